// Package openai has the models of OpenAI's Chat Completions API, and of the many servers that speak it, for package agent. It
// stands on the official SDK (github.com/openai/openai-go), whose options say where the server is and which key to show.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

// Model is one model behind a client of the SDK. It implements [agent.Model]; [New] makes one.
type Model struct {
	Client    sdk.Client
	Name      string // gpt-4o-mini
	MaxTokens int64  // of one answer; 0: the server's own limit
	// Adjust, if not nil, changes the request before it is sent: temperature, effort and all else that the API knows.
	Adjust func(*sdk.ChatCompletionNewParams)
}

var _ agent.Model = (*Model)(nil)

// New makes a model of a name. Without options the SDK reads OPENAI_API_KEY and OPENAI_BASE_URL from the environment.
func New(name string, options ...option.RequestOption) *Model {
	return &Model{Client: sdk.NewClient(options...), Name: name}
}

// Answer implements [agent.Model]. The errors are the SDK's: a *openai.Error where the server has answered.
func (m *Model) Answer(ctx context.Context, r agent.Request) (agent.Answer, error) {
	params := sdk.ChatCompletionNewParams{Model: m.Name, Messages: messages(r)}
	if m.MaxTokens > 0 {
		params.MaxCompletionTokens = sdk.Int(m.MaxTokens)
	}
	for _, d := range r.Tools {
		f := sdk.FunctionDefinitionParam{Name: d.Name}
		if d.Description != "" {
			f.Description = sdk.String(d.Description)
		}
		if err := json.Unmarshal(d.Schema, &f.Parameters); err != nil {
			return agent.Answer{}, fmt.Errorf("schema of tool %s: %w", d.Name, err)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	if m.Adjust != nil {
		m.Adjust(&params)
	}
	c, err := m.Client.Chat.Completions.New(ctx, params)
	if err != nil {
		return agent.Answer{}, err
	}
	if len(c.Choices) == 0 {
		return agent.Answer{}, errors.New("the model's answer has no choice")
	}
	return answer(c), nil
}

func messages(r agent.Request) []sdk.ChatCompletionMessageParamUnion {
	var list []sdk.ChatCompletionMessageParamUnion
	if r.System != "" {
		list = append(list, sdk.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		switch m.Role {
		case gatehouse.Assistant:
			list = append(list, said(m))
		case gatehouse.Tool:
			list = append(list, sdk.ToolMessage(m.Text, m.CallID))
		default:
			list = append(list, sdk.UserMessage(m.Text))
		}
	}
	return list
}

// said is a message of the assistant. One with calls may be without a text, one without calls may not.
func said(m agent.Message) sdk.ChatCompletionMessageParamUnion {
	out := sdk.ChatCompletionAssistantMessageParam{}
	if m.Text != "" || len(m.Calls) == 0 {
		out.Content.OfString = sdk.String(m.Text)
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: c.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Tool, Arguments: c.Arguments}}})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &out}
}

func answer(c *sdk.ChatCompletion) agent.Answer {
	choice := c.Choices[0]
	a := agent.Answer{Text: choice.Message.Content, Model: c.Model,
		Usage: gatehouse.Usage{Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens}}
	if choice.Message.Refusal != "" {
		a.Text = choice.Message.Refusal
	}
	for _, t := range choice.Message.ToolCalls {
		a.Calls = append(a.Calls, agent.Call{ID: t.ID, Tool: t.Function.Name, Arguments: t.Function.Arguments})
	}
	// Compatible servers put the reasoning beside the text, under one of two names.
	for _, name := range [...]string{"reasoning_content", "reasoning"} {
		var text string
		if f, ok := choice.Message.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(f.Raw()), &text) == nil && text != "" {
			a.Thoughts = append(a.Thoughts, agent.Thought{Text: text})
			break
		}
	}
	switch choice.FinishReason {
	case "length", "content_filter":
		a.Cut = choice.FinishReason
	}
	return a
}
