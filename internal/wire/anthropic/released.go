package anthropic

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// toolUse is the stop reason of a turn that waits for results.
const toolUse = "tool_use"

type toolUseBlock struct {
	Type  string   `json:"type"`
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Input struct{} `json:"input"` // empty here: encoding would write the arguments in its own way
}

// Released writes a message, whole or in events, of one tool_use block for each call. Arguments are one JSON object, as the
// API has no others, and the tool is one that the client runs.
func (Codec) Released(req wire.Request, calls []wire.Call, id string) (body []byte, contentType string, err error) {
	if len(calls) == 0 {
		return nil, "", errors.New("no call to release")
	}
	var blocks []toolUseBlock
	for i, call := range calls {
		switch _, bad := wire.ParseObject([]byte(call.Arguments), wire.MaxDepth); {
		case call.Freeform || bad != nil:
			return nil, "", fmt.Errorf("call %d: the format has no room for arguments that are not one JSON object", i)
		case gatehouse.Part{Tool: call.Tool}.Hosted():
			return nil, "", fmt.Errorf("call %d: the provider runs the tool", i)
		}
		b := toolUseBlock{Type: toolUse, ID: call.ID, Name: call.Tool}
		if b.ID == "" {
			b.ID = "toolu_" + plainID(id) + strconv.Itoa(i)
		}
		blocks = append(blocks, b)
	}
	m := newMessage(req, id)
	if req.Stream() {
		return releasedEvents(m, blocks, calls), "text/event-stream", nil
	}
	return releasedMessage(m, blocks, calls), "application/json", nil
}

// releasedMessage puts the arguments into the bytes of a message.
func releasedMessage(m message, blocks []toolUseBlock, calls []wire.Call) []byte {
	reason := toolUse
	m.StopReason = &reason
	content := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			content = append(content, ',')
		}
		content = append(content, withMember(encode(b), "input", []byte(calls[i].Arguments))...)
	}
	return withMember(encode(m), "content", append(content, ']'))
}

// withMember is an object of this package's making with another value in one of its members.
func withMember(doc []byte, name string, value []byte) []byte {
	root, err := rawjson.Parse(doc, wire.MaxDepth)
	if err != nil {
		panic("anthropic: " + err.Error()) // encode made it
	}
	at := root.Get(name)
	return rawjson.Splice(doc, []rawjson.Patch{{Start: at.Start, End: at.End, With: value}})
}

// releasedEvents is the sequence that the API sends for tool_use blocks.
func releasedEvents(m message, blocks []toolUseBlock, calls []wire.Call) []byte {
	out := appendEvent(nil, "message_start", fields{"message": m})
	for i, b := range blocks {
		out = appendEvent(out, "content_block_start", fields{"index": i, "content_block": b})
		delta := fields{"type": "input_json_delta", "partial_json": calls[i].Arguments}
		out = appendEvent(out, "content_block_delta", fields{"index": i, "delta": delta})
		out = appendEvent(out, "content_block_stop", fields{"index": i})
	}
	end := fields{"stop_reason": toolUse, "stop_sequence": nil}
	out = appendEvent(out, "message_delta", fields{"delta": end, "usage": usage{}})
	return appendEvent(out, "message_stop", fields{})
}
