package slack

import (
	"fmt"
	"strings"
	"unicode"

	api "github.com/slack-go/slack"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// The action ids of the two buttons.
const (
	actionApprove = "gatehouse_approve"
	actionDeny    = "gatehouse_deny"
)

// Most characters of what others have written. Slack takes 2000 in a field and 3000 in a section.
const (
	maxName  = 200
	maxQuote = 600
	maxText  = 1500
)

// message is how an approval looks in the channel, as it stands.
func message(a approval.Approval, state approval.State, card *approval.Card, s *Settings) []api.MsgOption {
	blocks := []api.Block{
		api.NewHeaderBlock(plain(headline(state))),
		api.NewSectionBlock(nil, []*api.TextBlockObject{
			plain("Tool\n" + clip(a.Tool, maxName)),
			plain("Agent\n" + clip(agent(a), maxName)),
			plain("Why\n" + clip(a.Reason, maxText)),
			plain("Rule, risk\n" + clip(a.Rule, maxName) + risk(a)),
		}, nil),
	}
	if state == approval.Pending && card != nil {
		blocks = append(blocks, particulars(card, s)...)
	}
	if state == approval.Pending {
		blocks = append(blocks, api.NewActionBlock("",
			api.NewButtonBlockElement(actionApprove, a.ID, plain("Approve")).WithStyle(api.StylePrimary),
			api.NewButtonBlockElement(actionDeny, a.ID, plain("Deny")).WithStyle(api.StyleDanger)))
	} else {
		blocks = append(blocks, api.NewSectionBlock(plain(outcome(a, state)), nil, nil))
		if user, ok := strings.CutPrefix(a.By, byUser); ok && !a.Decided.IsZero() {
			mention := api.NewTextBlockObject(api.MarkdownType, "Decided by <@"+user+">", false, true)
			blocks = append(blocks, api.NewContextBlock("", mention))
		}
	}
	blocks = append(blocks, api.NewContextBlock("", plain(trailer(a, state, s))))
	return []api.MsgOption{
		api.MsgOptionText(headline(state)+": "+clip(a.Tool, maxName), true), // for notifications; escaped
		api.MsgOptionBlocks(blocks...),
		api.MsgOptionParse(false),
		api.MsgOptionDisableLinkUnfurl(),
		api.MsgOptionDisableMediaUnfurl(),
	}
}

// plain is text that Slack shows as it is: no mention, link or format in it works, whoever wrote it.
func plain(text string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.PlainTextType, text, false, false)
}

// clip shortens text, and takes out what cannot be seen but changes how the rest is read, such as a change of direction.
func clip(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == most {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n' || r == '\t':
			r = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			continue
		}
		b.WriteRune(r)
		n++
	}
	if strings.TrimSpace(b.String()) == "" {
		return "—"
	}
	return b.String()
}

func headline(state approval.State) string {
	switch state {
	case approval.Pending:
		return "A tool call waits for approval"
	case approval.Approved, approval.Consumed:
		return "Approved"
	case approval.Denied:
		return "Denied"
	case approval.Revoked:
		return "Approved, and taken back"
	}
	return "Expired"
}

func outcome(a approval.Approval, state approval.State) string {
	switch state {
	case approval.Expired:
		if a.Decided.IsZero() {
			return "Nobody decided in time. The call was not let through."
		}
		return "Approved, and not used in time. The call was not let through."
	case approval.Revoked:
		return "The approval was taken back before it was used."
	case approval.Consumed:
		return "The call was let through, once."
	case approval.Denied:
		return "The call is refused." + decider(a)
	}
	return "The call may run, once." + decider(a)
}

// decider names who decided elsewhere than in Slack, and what they said.
func decider(a approval.Approval) string {
	text := ""
	if !strings.HasPrefix(a.By, byUser) {
		text = " Decided by " + clip(a.By, maxName) + "."
	}
	if a.Note != "" {
		text += " Note: " + clip(a.Note, maxQuote)
	}
	return text
}

func agent(a approval.Approval) string {
	if a.AgentName == "" {
		return a.Agent
	}
	return a.AgentName + " (" + a.Agent + ")"
}

func risk(a approval.Approval) string {
	text := fmt.Sprintf(", session risk %.2f", a.Risk)
	if a.Tainted {
		text += "; a tool result of the session held an injection"
	}
	return text
}

// particulars are the evidence, and the arguments where the operator wants them to be seen in Slack.
func particulars(card *approval.Card, s *Settings) []api.Block {
	var blocks []api.Block
	if e := card.Evidence; e != nil {
		blocks = append(blocks, api.NewSectionBlock(plain("Comes from a result of "+clip(e.Tool, maxName)+" ("+clip(e.Argument, maxName)+")\n"+clip(e.Quote, maxQuote)), nil, nil))
	}
	if s.Arguments {
		blocks = append(blocks, api.NewSectionBlock(plain("Arguments\n"+clip(card.Arguments, maxText)), nil, nil))
	}
	return blocks
}

func trailer(a approval.Approval, state approval.State, s *Settings) string {
	text := a.ID
	if state == approval.Pending {
		text += " · expires " + a.Expires.UTC().Format("2006-01-02 15:04 UTC")
	}
	if s.Link != "" {
		text += " · " + s.Link + a.ID
	}
	return text
}
