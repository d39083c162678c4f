package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// claude is the official Anthropic SDK.
type claude struct{ sdk anthropic.Client }

func connectAnthropic(base, key string) client {
	options := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithBaseURL(base), option.WithMaxRetries(0)}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return claude{anthropic.NewClient(options...)}
}

func (c claude) turn(ctx context.Context, q question) (answer, error) {
	var res *http.Response
	options := []option.RequestOption{option.WithResponseInto(&res), option.WithMaxRetries(q.retries)}
	for name, value := range q.headers {
		options = append(options, option.WithHeader(name, value))
	}
	if q.look != nil {
		options = append(options, option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			q.look(r)
			return next(r)
		}))
	}
	params := anthropicParams(q)
	if !q.stream {
		m, err := c.sdk.Messages.New(ctx, params, options...)
		return anthropicAnswer(m, res), err
	}
	events := c.sdk.Messages.NewStreaming(ctx, params, options...)
	defer events.Close()
	var sum anthropic.Message
	for events.Next() {
		if err := sum.Accumulate(events.Current()); err != nil {
			return answer{}, err
		}
	}
	return anthropicAnswer(&sum, res), events.Err()
}

func anthropicParams(q question) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{Model: "claude-test", MaxTokens: 200}
	for _, m := range q.messages {
		params.Messages = append(params.Messages, anthropicMessage(m))
	}
	for _, name := range q.tools {
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: name, Description: anthropic.String("The tool " + name + "."),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: citySchema()["properties"]},
		}})
	}
	if q.schema {
		params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: citySchema()}
	}
	return params
}

func anthropicMessage(m message) anthropic.MessageParam {
	if m.said != nil {
		return m.said.native.(anthropic.Message).ToParam()
	}
	var blocks []anthropic.ContentBlockParamUnion
	for _, r := range m.results {
		blocks = append(blocks, anthropic.NewToolResultBlock(r.call, r.text, false))
	}
	if m.text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.text))
	}
	if m.image != "" {
		blocks = append(blocks, anthropic.NewImageBlockBase64("image/png", m.image))
	}
	return anthropic.NewUserMessage(blocks...)
}

func anthropicAnswer(m *anthropic.Message, res *http.Response) answer {
	var a answer
	if res != nil {
		a.header = res.Header
	}
	if m == nil {
		return a
	}
	a.native, a.finish, a.refusal = *m, string(m.StopReason), m.StopDetails.Explanation
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			a.text += block.Text
		case "tool_use":
			a.choice.calls = append(a.choice.calls, call{block.ID, block.Name, compact(block.Input)})
		}
	}
	a.tokens = m.Usage.InputTokens + m.Usage.OutputTokens
	return a
}

func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v) // it was JSON a moment ago
	return string(out)
}

func (c claude) models(ctx context.Context) (ids []string, header http.Header, err error) {
	var res *http.Response
	page, err := c.sdk.Models.List(ctx, anthropic.ModelListParams{}, option.WithResponseInto(&res))
	if err != nil {
		return nil, nil, err
	}
	for _, m := range page.Data {
		ids = append(ids, m.ID)
	}
	return ids, res.Header, nil
}

func (claude) refused(err error) (refusal, bool) {
	var own *anthropic.Error
	if !errors.As(err, &own) {
		return refusal{}, false
	}
	return refusal{own.StatusCode, own.RawJSON(), own.Response.Header}, true
}
