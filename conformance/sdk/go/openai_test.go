package sdk

import (
	"context"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// openAI is the official OpenAI SDK.
type openAI struct{ sdk openai.Client }

func connectOpenAI(base, key string) client {
	options := []option.RequestOption{option.WithBaseURL(base), option.WithMaxRetries(0)}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return openAI{openai.NewClient(options...)}
}

func (o openAI) turn(ctx context.Context, q question) (answer, error) {
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
	params := openAIParams(q)
	if !q.stream {
		completion, err := o.sdk.Chat.Completions.New(ctx, params, options...)
		return openAIAnswer(completion, res), err
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	events := o.sdk.Chat.Completions.NewStreaming(ctx, params, options...)
	defer events.Close()
	var sum openai.ChatCompletionAccumulator
	for events.Next() {
		if !sum.AddChunk(events.Current()) {
			return answer{}, errors.New("the accumulator refuses a chunk")
		}
	}
	return openAIAnswer(&sum.ChatCompletion, res), events.Err()
}

func openAIParams(q question) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: "gpt-test"}
	for _, m := range q.messages {
		params.Messages = append(params.Messages, openAIMessages(m)...)
	}
	for _, name := range q.tools {
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: name, Description: openai.String("The tool " + name + "."), Parameters: citySchema(),
		}))
	}
	if q.choices > 0 {
		params.N = openai.Int(int64(q.choices))
	}
	if q.schema {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "city", Strict: openai.Bool(true), Schema: citySchema()},
		}
	}
	return params
}

func openAIMessages(m message) []openai.ChatCompletionMessageParamUnion {
	switch {
	case m.said != nil:
		return []openai.ChatCompletionMessageParamUnion{m.said.native.(openai.ChatCompletionMessage).ToParam()}
	case m.results != nil:
		var list []openai.ChatCompletionMessageParamUnion
		for _, r := range m.results {
			list = append(list, openai.ToolMessage(r.text, r.call))
		}
		return list
	case m.image != "":
		return []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(m.text),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + m.image}),
		})}
	}
	return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(m.text)}
}

func openAIAnswer(c *openai.ChatCompletion, res *http.Response) answer {
	var a answer
	if res != nil {
		a.header = res.Header
	}
	if c == nil || len(c.Choices) == 0 {
		return a
	}
	a.native = c.Choices[0].Message
	a.choice = openAIChoice(c.Choices[0])
	for _, other := range c.Choices[1:] {
		a.others = append(a.others, openAIChoice(other))
	}
	a.tokens = c.Usage.TotalTokens
	return a
}

func openAIChoice(c openai.ChatCompletionChoice) choice {
	out := choice{text: c.Message.Content, refusal: c.Message.Refusal, finish: c.FinishReason}
	for _, made := range c.Message.ToolCalls {
		out.calls = append(out.calls, call{made.ID, made.Function.Name, made.Function.Arguments})
	}
	return out
}

func (o openAI) models(ctx context.Context) (ids []string, header http.Header, err error) {
	var res *http.Response
	page, err := o.sdk.Models.List(ctx, option.WithResponseInto(&res))
	if err != nil {
		return nil, nil, err
	}
	for _, m := range page.Data {
		ids = append(ids, m.ID)
	}
	return ids, res.Header, nil
}

func (openAI) refused(err error) (refusal, bool) {
	var own *openai.Error
	if !errors.As(err, &own) {
		return refusal{}, false
	}
	return refusal{own.StatusCode, own.Message, own.Response.Header}, true
}
