package responses

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// previous is the stored response that a request continues.
type previous struct {
	at           rawjson.Value // of the id in the request
	real         string        // the id that the provider knows; empty: none
	own          string        // of a response that the gateway has written in the provider's place: the id of its exchange
	conversation string
}

// ownPrefix begins the ids of responses that the gateway has written. The provider does not know them, so they say what they
// continue: resp_gatehouse_<exchange>[_<the provider's response before>].
const ownPrefix = "resp_gatehouse_"

// ownID is the id of a response that the gateway writes to a request.
func ownID(exchange, real string) string {
	id := ownPrefix + strings.ReplaceAll(exchange, "-", "")
	if real != "" {
		id += "_" + real
	}
	return id
}

// continues reads which response or conversation the request goes on with.
func (r *request) continues() error {
	v, talk := r.root.Get("previous_response_id"), r.root.Get("conversation")
	if v.Exists() && v.Kind != rawjson.String {
		return wire.Wrong("previous_response_id", "a string")
	}
	r.previous = previous{at: v, real: v.Text(r.doc), conversation: talk.Text(r.doc)}
	if talk.Kind == rawjson.Object {
		r.previous.conversation = talk.Get("id").Text(r.doc)
	}
	const size = 32 // hex digits of an exchange's id
	rest, made := strings.CutPrefix(r.previous.real, ownPrefix)
	if !made || len(rest) < size || len(rest) > size && rest[size] != '_' {
		return nil
	}
	if id, err := hex.DecodeString(rest[:size]); err == nil {
		r.previous.own = uuid.UUID(id).String()
		r.previous.real = strings.TrimPrefix(rest[size:], "_")
	}
	return nil
}

// patches name the response that the provider knows where the client names one that the gateway has written.
func (p previous) patches(root rawjson.Value) []rawjson.Patch {
	switch {
	case p.own == "":
		return nil
	case p.real != "":
		return []rawjson.Patch{rawjson.SetText(p.at, p.real)}
	}
	return []rawjson.Patch{rawjson.Set(p.at, "null")}
}

// Keys implements [wire.Stateful]: what the request continues.
func (r *request) Keys() []string {
	return named(r.previous.own, r.previous.real, r.previous.conversation)
}

func named(ids ...string) (list []string) {
	for _, id := range ids {
		if id != "" {
			list = append(list, id)
		}
	}
	return list
}

// blank is a screen that shows nothing: one white pixel.
const blank = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII="

type fields = map[string]any

// answerTo writes the result of a call that was taken out of a stored response: the provider waits for it.
func answerTo(p gatehouse.Part) []byte {
	out := fields{"call_id": p.CallID, "output": p.Text}
	switch p.Media {
	case freeform:
		out["type"] = "custom_tool_call_output"
	case kindLocalShellCall:
		out = fields{"type": "local_shell_call_output", "id": p.CallID, "output": p.Text}
	case kindShellCall:
		out["type"] = "shell_call_output"
		out["output"] = []fields{{"stdout": "", "stderr": p.Text, "outcome": fields{"type": "exit", "exit_code": 1}}}
	case kindPatchCall:
		out["type"], out["status"] = "apply_patch_call_output", "failed"
	case kindComputerCall:
		out["type"], out["output"] = "computer_call_output", fields{"type": "computer_screenshot", "image_url": blank}
	case kindApprovalRequest:
		out = fields{"type": "mcp_approval_response", "approval_request_id": p.CallID, "approve": false, "reason": p.Text}
	case "tool_search_call":
		out = fields{"type": "tool_search_output", "call_id": p.CallID, "tools": []fields{}}
	default:
		out["type"] = "function_call_output"
	}
	return encode(out)
}
