package config

import (
	"errors"
	"net/netip"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

// Notify governs who is told.
type Notify struct {
	Webhooks       []Webhook // each URL once
	Slack          Slack
	PrivateTargets []string // networks, in CIDR notation
}

// Webhook is a URL that hears of what happens in the operator's account.
type Webhook struct {
	URL    string
	Secret string   // that deliveries are signed with; secret
	Events []string // types as of a webhook that is made by the API
}

// Slack is where pending approvals are shown. Without a token there is none.
type Slack struct {
	Token         string // of the bot; secret
	Channel       string // id or name
	SigningSecret string // of the app; secret
	Approvers     []string
	Arguments     bool   // messages show the arguments of calls
	API           string // base URL of Slack's Web API; empty: Slack's own
}

func (n *Notify) field() field {
	return section("notify", "Who is told.",
		n.webhooks(),
		n.Slack.field(),
		texts("private_targets", "Networks such as 10.0.0.0/8 that webhooks may be sent to although they are not public.", &n.PrivateTargets, wrongNetwork),
	)
}

func (n *Notify) webhooks() field {
	return field{"webhooks", "Webhooks of the operator's account, beside those that are made by the API.",
		func(d *decoder, node *yaml.Node, path string) {
			hooks := []Webhook{}
			if d.list(node, path, func(node *yaml.Node, path string) {
				w := Webhook{Events: []string{"approval.*"}}
				d.section(node, path, w.fields())
				if slices.ContainsFunc(hooks, func(other Webhook) bool { return other.URL == w.URL }) {
					d.fail(node.Line, path, "the url was written before")
				}
				hooks = append(hooks, w)
			}) && len(hooks) > 0 {
				n.Webhooks = hooks
			}
		},
		func() *yaml.Node {
			if len(n.Webhooks) == 0 {
				return nil
			}
			out := &yaml.Node{Kind: yaml.SequenceNode}
			for _, w := range n.Webhooks {
				out.Content = append(out.Content, showFields(w.fields()))
			}
			return out
		},
		object{"type": "array", "items": fieldsSchema(new(Webhook).fields())},
	}
}

func (w *Webhook) fields() []field {
	return []field{
		text("url", "Where events are sent.", &w.URL, anything),
		secret("secret", "What deliveries are signed with, 20 bytes or more. Take it from the environment: ${WEBHOOK_SECRET}.", &w.Secret),
		texts("events", "Types of events: names, names that end in .*, or *.", &w.Events, anything),
	}
}

func (s *Slack) field() field {
	f := section("slack", "A channel in which approvals are asked for.",
		secret("token", "The bot's token, with the scope chat:write. Take it from the environment: ${SLACK_TOKEN}.", &s.Token),
		text("channel", "Id or name of the channel; the bot must be in it.", &s.Channel, wrongKey),
		secret("signing_secret", "The app's signing secret.", &s.SigningSecret),
		texts("approvers", "Ids of the users who may decide, such as U012AB3CD.", &s.Approvers, wrongUser),
		boolean("arguments", "Whether messages show the arguments of calls. They may hold personal data, and Slack keeps them.", &s.Arguments),
		text("api", "Base URL of Slack's Web API, when it is not https://slack.com/api.", &s.API, func(url string) error {
			if url == "" {
				return nil
			}
			return wrongBaseURL(url)
		}),
	)
	show := f.show
	f.show = func() *yaml.Node {
		if s.Token == "" && s.Channel == "" && s.SigningSecret == "" && s.Approvers == nil && !s.Arguments && s.API == "" {
			return nil
		}
		return show()
	}
	return f
}

// secret is a text that is shown masked, and not at all when it is empty.
func secret(name, doc string, to *string) field {
	f := text(name, doc, to, wrongKey)
	f.show = func() *yaml.Node {
		if *to == "" {
			return nil
		}
		return scalarNode(mask)
	}
	return f
}

var slackUser = regexp.MustCompile(`^[UW][A-Z0-9]{1,31}$`)

func wrongUser(s string) error {
	if !slackUser.MatchString(s) {
		return errors.New("must be the id of a user, such as U012AB3CD")
	}
	return nil
}

// notify looks at what webhooks and Slack need to work.
func (d *decoder) notify(n Notify) {
	var targets webhook.Targets
	for _, network := range n.PrivateTargets {
		if prefix, err := netip.ParsePrefix(network); err == nil { // what is wrong has been said
			targets.Allow = append(targets.Allow, prefix)
		}
	}
	for i, w := range n.Webhooks {
		path := "notify.webhooks[" + strconv.Itoa(i) + "]"
		err := webhook.Configured{URL: w.URL, Secret: w.Secret, EventTypes: w.Events}.Check(targets)
		var wrong *webhook.Invalid
		if errors.As(err, &wrong) {
			d.fail(d.line(path), path, "%s %s", wrong.Field, wrong.Reason)
		}
	}
	if s := n.Slack; s.Token != "" && (s.Channel == "" || s.SigningSecret == "" || len(s.Approvers) == 0) {
		d.fail(d.line("notify.slack"), "notify.slack", "needs channel, signing_secret and approvers beside the token")
	} else if s.Token == "" && (s.Channel != "" || s.SigningSecret != "" || len(s.Approvers) > 0) {
		d.fail(d.line("notify.slack"), "notify.slack", "needs a token")
	}
}
