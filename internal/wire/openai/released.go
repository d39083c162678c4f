package openai

import (
	"errors"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

type toolCall struct {
	Index    *int          `json:"index,omitempty"` // in a stream
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"` // function or custom
	Function *functionCall `json:"function,omitempty"`
	Custom   *customCall   `json:"custom,omitempty"`
}

type functionCall struct {
	Name      string `json:"name,omitempty"` // not in the later pieces of a stream
	Arguments string `json:"arguments"`
}

type customCall struct {
	Name  string `json:"name,omitempty"` // as above
	Input string `json:"input"`
}

// Released writes the calls into the first choice with finish_reason tool_calls. A client that offers functions and no
// tools knows one function_call only.
func (Codec) Released(req wire.Request, calls []wire.Call, id string) (body []byte, contentType string, err error) {
	s := shapeOf(req)
	switch {
	case len(calls) == 0:
		return nil, "", errors.New("no call to release")
	case s.legacy && (len(calls) > 1 || calls[0].Freeform):
		return nil, "", errors.New("a request that offers functions has room for one call with JSON arguments")
	}
	c := completion{ID: "chatcmpl-" + id, Created: time.Now().Unix(), Model: req.Model()}
	if req.Stream() {
		c.Object = "chat.completion.chunk"
		return s.streamCalls(c, calls, id), "text/event-stream", nil
	}
	m, reason := &turn{Role: "assistant"}, s.called()
	for i, call := range calls {
		if s.legacy {
			m.FunctionCall = &functionCall{Name: call.Tool, Arguments: call.Arguments}
			break
		}
		m.ToolCalls = append(m.ToolCalls, newCall(call, id, i).with(call.Arguments))
	}
	c.Object, c.Usage = "chat.completion", &tokens{}
	c.Choices = []answer{{Message: m, FinishReason: &reason}}
	return encode(c), "application/json", nil
}

// called is the finish reason of a turn that makes calls.
func (s shape) called() string {
	if s.legacy {
		return "function_call"
	}
	return "tool_calls"
}

// streamCalls writes the role, then of each call first its name and then its arguments, as the API does.
func (s shape) streamCalls(c completion, calls []wire.Call, id string) []byte {
	var out []byte
	send := func(a answer) {
		c.Choices = []answer{a}
		out = sse.Append(out, "", string(encode(c)))
	}
	send(answer{Delta: &turn{Role: "assistant"}})
	for i, call := range calls {
		begin, rest := &piece{}, &piece{}
		if s.legacy {
			begin.FunctionCall, rest.FunctionCall = &functionCall{Name: call.Tool}, &functionCall{Arguments: call.Arguments}
		} else {
			begun, more := newCall(call, id, i), newPiece(call.Freeform)
			begun.Index, more.Index = &i, &i
			begin.ToolCalls, rest.ToolCalls = []toolCall{begun}, []toolCall{more.with(call.Arguments)}
		}
		send(answer{Delta: begin})
		send(answer{Delta: rest})
	}
	reason := s.called()
	send(answer{Delta: &piece{}, FinishReason: &reason})
	return s.end(out, c)
}

// newCall is a call without its arguments. Clients answer a call by its id, so one that has none gets one.
func newCall(call wire.Call, id string, place int) toolCall {
	c := newPiece(call.Freeform)
	if c.ID = call.ID; c.ID == "" {
		c.ID = "call_" + id + "-" + strconv.Itoa(place)
	}
	if call.Freeform {
		c.Type, c.Custom.Name = "custom", call.Tool
	} else {
		c.Type, c.Function.Name = "function", call.Tool
	}
	return c
}

func newPiece(freeform bool) toolCall {
	if freeform {
		return toolCall{Custom: &customCall{}}
	}
	return toolCall{Function: &functionCall{}}
}

// with puts the arguments into a call or a piece of one.
func (c toolCall) with(arguments string) toolCall {
	if c.Custom != nil {
		c.Custom.Input = arguments
	} else {
		c.Function.Arguments = arguments
	}
	return c
}
