// Package anthropic has the models of Anthropic's Messages API for package agent. It stands on the official SDK
// (github.com/anthropics/anthropic-sdk-go), whose options say where the server is and which key to show.
package anthropic

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

// DefaultMaxTokens is the longest answer of a [Model] that names no other: the API wants a number.
const DefaultMaxTokens = 4096

// Model is one model behind a client of the SDK. It implements [agent.Model]; [New] makes one.
type Model struct {
	Client    sdk.Client
	Name      string // claude-sonnet-4-5
	MaxTokens int64  // of one answer; 0: [DefaultMaxTokens]
	// Adjust, if not nil, changes the request before it is sent: temperature, thinking and all else that the API knows.
	Adjust func(*sdk.MessageNewParams)
}

var _ agent.Model = (*Model)(nil)

// New makes a model of a name. Without options the SDK reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL from the environment.
func New(name string, options ...option.RequestOption) *Model {
	return &Model{Client: sdk.NewClient(options...), Name: name}
}

// Answer implements [agent.Model]. The errors are the SDK's: a *anthropic.Error where the server has answered.
func (m *Model) Answer(ctx context.Context, r agent.Request) (agent.Answer, error) {
	params := sdk.MessageNewParams{Model: m.Name, MaxTokens: m.MaxTokens, Messages: messages(r.Messages)}
	if params.MaxTokens == 0 {
		params.MaxTokens = DefaultMaxTokens
	}
	if r.System != "" {
		params.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, d := range r.Tools {
		t := &sdk.ToolParam{Name: d.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](d.Schema)}
		if d.Description != "" {
			t.Description = sdk.String(d.Description)
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: t})
	}
	if m.Adjust != nil {
		m.Adjust(&params)
	}
	said, err := m.Client.Messages.New(ctx, params)
	if err != nil {
		return agent.Answer{}, err
	}
	return answer(said), nil
}

// messages are the conversation in turns: results, and what the user says next, are one turn of the user.
func messages(list []agent.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	for _, m := range list {
		turn := sdk.MessageParam{Role: sdk.MessageParamRoleUser}
		switch m.Role {
		case gatehouse.Assistant:
			turn = sdk.MessageParam{Role: sdk.MessageParamRoleAssistant, Content: said(m)}
		case gatehouse.Tool:
			turn.Content = []sdk.ContentBlockParamUnion{result(m)}
		default:
			turn.Content = []sdk.ContentBlockParamUnion{sdk.NewTextBlock(m.Text)}
		}
		switch n := len(out) - 1; {
		case len(turn.Content) == 0: // the API refuses a turn of nothing
		case n >= 0 && out[n].Role == turn.Role:
			out[n].Content = append(out[n].Content, turn.Content...)
		default:
			out = append(out, turn)
		}
	}
	return out
}

// result is a tool's. The API refuses texts of nothing, but not a result without any.
func result(m agent.Message) sdk.ContentBlockParamUnion {
	b := sdk.NewToolResultBlock(m.CallID, m.Text, m.Failed)
	if strings.TrimSpace(m.Text) == "" {
		b.OfToolResult.Content = nil
	}
	return b
}

func said(m agent.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, t := range m.Thoughts {
		if t.Sealed != "" {
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(t.Sealed))
		} else {
			blocks = append(blocks, sdk.NewThinkingBlock(t.Signature, t.Text))
		}
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, input(c.Arguments), c.Tool))
	}
	return blocks
}

// input is a call's arguments as the API takes them back: an object, whatever the model wrote.
func input(arguments string) json.RawMessage {
	if json.Unmarshal([]byte(arguments), &map[string]json.RawMessage{}) != nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

func answer(m *sdk.Message) agent.Answer {
	a := agent.Answer{Model: m.Model, Usage: gatehouse.Usage{Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens}}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "thinking":
			a.Thoughts = append(a.Thoughts, agent.Thought{Text: b.Thinking, Signature: b.Signature})
		case "redacted_thinking":
			a.Thoughts = append(a.Thoughts, agent.Thought{Sealed: b.Data})
		case "tool_use":
			a.Calls = append(a.Calls, agent.Call{ID: b.ID, Tool: b.Name, Arguments: string(b.Input)})
		}
	}
	switch m.StopReason {
	case sdk.StopReasonEndTurn, sdk.StopReasonToolUse, sdk.StopReasonStopSequence:
	default:
		a.Cut = string(m.StopReason)
	}
	return a
}
