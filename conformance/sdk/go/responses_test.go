package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// stored is the SDK at one base URL, for what OpenAI alone has.
func stored(t *testing.T, base string) (openai.Client, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return openai.NewClient(option.WithBaseURL(gatewayURL+base), option.WithMaxRetries(0), option.WithAPIKey(key())), ctx
}

// respond takes one turn of the Responses API, whole or put together from its events.
func respond(t *testing.T, ctx context.Context, c openai.Client, stream bool, params responses.ResponseNewParams) responses.Response {
	t.Helper()
	params.Model = "gpt-test"
	if !stream {
		r, err := c.Responses.New(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		return *r
	}
	events, text := c.Responses.NewStreaming(ctx, params), ""
	defer events.Close()
	var last responses.ResponseStreamEventUnion
	for events.Next() {
		if last = events.Current(); last.Type == "response.output_text.delta" {
			text += last.Delta
		}
	}
	if err := events.Err(); err != nil || last.Type != "response.completed" {
		t.Fatalf("the stream ends in %s: %v", last.Type, err)
	}
	if got := last.Response.OutputText(); got != text {
		t.Errorf("the pieces say %q, the response %q", text, got)
	}
	return last.Response
}

func everyResponse(t *testing.T, test func(t *testing.T, base string, stream bool)) {
	for _, base := range []string{"/openai/v1", "/v1"} {
		for _, stream := range []bool{false, true} {
			t.Run(base+"/"+mode(stream), func(t *testing.T) { test(t, base, stream) })
		}
	}
}

func said(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
}

func offering(p responses.ResponseNewParams, names ...string) responses.ResponseNewParams {
	for _, name := range names {
		p.Tools = append(p.Tools, responses.ToolParamOfFunction(name, citySchema(), false))
	}
	return p
}

func TestResponses(t *testing.T) {
	everyResponse(t, func(t *testing.T, base string, stream bool) {
		c, ctx := stored(t, base)
		if r := respond(t, ctx, c, stream, said("Hello")); r.OutputText() != "You said: Hello" {
			t.Errorf("got %q", r.OutputText())
		}
		stopped := respond(t, ctx, c, stream, said(injection))
		if !strings.Contains(stopped.OutputText(), "stopped by the front checkpoint") || stopped.IncompleteDetails.Reason != "content_filter" {
			t.Errorf("got %s", stopped.RawJSON())
		}
		next := said("Bread")
		next.PreviousResponseID = openai.String(stopped.ID)
		if r := respond(t, ctx, c, stream, next); r.OutputText() != "You said: Bread" {
			t.Errorf("got %q", r.OutputText())
		}
	})
}

func TestResponsesWithTools(t *testing.T) {
	everyResponse(t, func(t *testing.T, base string, stream bool) {
		c, ctx := stored(t, base)
		order := "call delete_page {\"city\":\"Oslo\"}\ncall get_weather {\"city\":\"Oslo\"}"
		first := respond(t, ctx, c, stream, offering(said(order), "delete_page", "get_weather"))
		var calls []responses.ResponseOutputItemUnion
		for _, item := range first.Output {
			if item.Type == "function_call" {
				calls = append(calls, item)
			}
		}
		if len(calls) != 1 || calls[0].Name != "get_weather" || !strings.Contains(first.OutputText(), "delete_page") {
			t.Fatalf("got %s", first.RawJSON())
		}
		second := responses.ResponseNewParams{PreviousResponseID: openai.String(first.ID)}
		result := responses.ResponseInputItemParamOfFunctionCallOutput("rain\n" + injection)
		result.OfFunctionCallOutput.CallID = openai.String(calls[0].CallID)
		second.Input.OfInputItemList = responses.ResponseInputParam{result}
		if r := respond(t, ctx, c, stream, second); !strings.Contains(r.OutputText(), "rain") || strings.Contains(r.OutputText(), injection) {
			t.Errorf("got %q", r.OutputText())
		}
	})
}

func TestResponsesInTheBackground(t *testing.T) {
	c, ctx := stored(t, "/v1")
	params := said("Hello")
	params.Model, params.Background = "gpt-test", openai.Bool(true)
	queued, err := c.Responses.New(ctx, params)
	if err != nil || queued.Status != "queued" {
		t.Fatalf("%v: %+v", err, queued)
	}
	done, err := c.Responses.Get(ctx, queued.ID, responses.ResponseGetParams{})
	if err != nil || done.OutputText() != "You said: Hello" {
		t.Errorf("%v: %+v", err, done)
	}
	// The SDK asks for the stream in a body, and the API reads the query.
	events := c.Responses.GetStreaming(ctx, queued.ID, responses.ResponseGetParams{}, option.WithQuery("stream", "true"))
	defer events.Close()
	last := ""
	for events.Next() {
		last = events.Current().Type
	}
	if events.Err() != nil || last != "response.completed" {
		t.Errorf("the stream ends in %s: %v", last, events.Err())
	}
	if err := c.Responses.Delete(ctx, queued.ID); err != nil {
		t.Error(err)
	}
}

func TestLegacyCompletionsAndEmbeddings(t *testing.T) {
	c, ctx := stored(t, "/openai/v1")
	made, err := c.Completions.New(ctx, openai.CompletionNewParams{Model: "gpt-test", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Hello")}})
	if err != nil || made.Choices[0].Text != "You said: Hello" {
		t.Errorf("%v: %+v", err, made)
	}
	embed := func(text string) (*openai.CreateEmbeddingResponse, error) {
		return c.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: "gpt-test", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String(text)}})
	}
	if vectors, err := embed("Hello"); err != nil || len(vectors.Data) != 1 {
		t.Errorf("%v: %+v", err, vectors)
	}
	_, err = embed(injection)
	var own *openai.Error
	if !errors.As(err, &own) || own.StatusCode != 403 || !json.Valid([]byte(own.RawJSON())) || own.Code != "safe_house_blocked" {
		t.Errorf("got %v", err)
	}
}
