package checkpoint

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// withheld is a call that did not leave. Where the provider keeps the conversation, it waits for the call's result.
type withheld struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	Media  string `json:"media,omitempty"`
	Notice string `json:"notice"`
}

// withheld are the calls of this exchange that its next turn must answer, under each name by which that can follow.
func (e *Engine) withheld(x *gatehouse.Exchange) (list []session.Decided) {
	var edits []gatehouse.Edit
	for _, p := range x.Response {
		if p.Kind != gatehouse.ToolCall || !p.Removed || p.CallID == "" || p.Hosted() && p.Media != gatehouse.LeaveAsked {
			continue
		}
		notice := p.Notice
		if notice == "" {
			notice = refusedCall(&p, "the answer was withheld")
		}
		text, err := json.Marshal(withheld{p.CallID, p.Tool, p.Media, notice})
		if err == nil { // strings always marshal
			edits = append(edits, gatehouse.Edit{Op: gatehouse.Insert, Text: string(text)})
		}
	}
	for _, key := range x.Leaves {
		if len(edits) > 0 || slices.Contains(x.Follows, key) { // what was said under that name before is done
			list = append(list, session.Decided{Text: e.Sessions.WithheldDigest(x.Agent, key), Edits: edits})
		}
	}
	return list
}

// supply answers the calls of the turn before that did not leave, with what was said of them. It comes behind front, so that no
// detector reads the gateway's words.
func (e *Engine) supply(ctx context.Context, x *gatehouse.Exchange) {
	for _, key := range x.Follows {
		id, ok, err := e.Sessions.Continued(ctx, x.Agent, []string{key})
		if err == nil && ok {
			err = e.answer(ctx, x, id, e.Sessions.WithheldDigest(x.Agent, key))
		}
		if err != nil {
			e.Log.Error("withheld calls cannot be read", "request_id", x.ID, "error", err)
		}
	}
}

func (e *Engine) answer(ctx context.Context, x *gatehouse.Exchange, sessionID string, under session.Digest) error {
	known, err := e.Sessions.Store.DecidedTexts(ctx, x.Agent, sessionID, []session.Digest{under})
	if err != nil {
		return err
	}
	if len(known[under]) == 0 {
		return nil
	}
	answered := map[string]bool{}
	for i := range x.Request {
		if p := &x.Request[i]; p.Kind == gatehouse.ToolResult {
			answered[p.CallID] = true
		}
	}
	for _, edit := range known[under] {
		var w withheld
		if err := json.Unmarshal([]byte(edit.Text), &w); err != nil {
			return err
		}
		if !answered[w.CallID] {
			answered[w.CallID] = true
			x.Ask(gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Tool: w.Tool, CallID: w.CallID, Media: w.Media,
				Text: w.Notice, Inserted: true})
		}
	}
	return nil
}
