package sdk

import (
	"context"
	"crypto/rand"
	"net/http"
	"testing"
)

// client is one official SDK with a base URL, in words that both providers share.
type client interface {
	turn(ctx context.Context, q question) (answer, error)
	models(ctx context.Context) (ids []string, header http.Header, err error)
	refused(err error) (refusal, bool) // whether it is the SDK's own error for an HTTP status
}

// question is one turn as a test asks for it.
type question struct {
	messages []message
	tools    []string // names
	stream   bool
	choices  int  // 0: the provider's default
	schema   bool // an answer by citySchema is asked for
	retries  int
	headers  map[string]string
	look     func(*http.Request) // sees every request as the SDK sends it
}

// message is one of the conversation: a user's text with a picture, an earlier answer, or the results of its calls.
type message struct {
	text    string
	image   string // base64 of a PNG
	said    *answer
	results []result
}

type result struct{ call, text string } // call: an id

// answer is one turn as the SDK understood it. A stream is put together by the SDK's own accumulator.
type answer struct {
	choice
	others []choice // from the second on
	tokens int64    // of the usage, in and out
	header http.Header
	native any // the SDK's own type, to be sent back as history
}

type choice struct {
	text, refusal, finish string
	calls                 []call
}

type call struct{ id, name, args string }

// refusal is an HTTP error as the SDK's own error type tells it.
type refusal struct {
	status int
	body   string
	header http.Header
}

// place is one way to reach a provider through the gateway.
type place struct {
	client
	vendor
	stream bool
}

// vendor is what the tests need to know of a provider.
type vendor struct {
	name       string
	provider   string                        // address of the fake
	bases      []string                      // paths of base URLs, by contract
	end        string                        // finish reason of a text
	calls      string                        // of tool calls
	stopped    string                        // of a turn that the gateway stopped
	model      string                        // that the provider lists
	connect    func(base, key string) client // key empty: none is sent
	credential func(http.Header) string      // as it reached the provider
}

func vendors() []vendor {
	return []vendor{
		{
			name: "openai", provider: provider.OpenAI, bases: []string{"/openai/v1", "/v1"},
			end: "stop", calls: "tool_calls", stopped: "content_filter", model: "gpt-fake", connect: connectOpenAI,
			credential: func(h http.Header) string { return h.Get("Authorization") },
		},
		{
			name: "anthropic", provider: provider.Anthropic, bases: []string{"/anthropic", ""},
			end: "end_turn", calls: "tool_use", stopped: "refusal", model: "claude-fake", connect: connectAnthropic,
			credential: func(h http.Header) string { return h.Get("X-Api-Key") },
		},
	}
}

// everywhere runs a test at each place: both SDKs, both styles of base URL, streamed and not.
func everywhere(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	for _, v := range vendors() {
		for _, base := range v.bases {
			for _, stream := range []bool{false, true} {
				t.Run(v.name+" at "+base+"/"+mode(stream), func(t *testing.T) {
					test(t, place{v.connect(gatewayURL+base, key()), v, stream})
				})
			}
		}
	}
}

func mode(stream bool) string {
	if stream {
		return "streamed"
	}
	return "whole"
}

// key is a provider key of its own for every test, and so an agent of its own.
func key() string { return "sk-" + rand.Text() }

// ask takes one turn, which must succeed.
func (p place) ask(t *testing.T, q question) answer {
	t.Helper()
	q.stream = p.stream
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := p.turn(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// refuse takes one turn, which must end in the SDK's own error.
func (p place) refuse(t *testing.T, q question) refusal {
	t.Helper()
	q.stream = p.stream
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.turn(ctx, q)
	r, ok := p.refused(err)
	if !ok {
		t.Fatalf("error of type %T (%v), want the SDK's own", err, err)
	}
	return r
}

func user(text string) message { return message{text: text} }

// answered is the next part of a conversation: an answer with calls, and a result for each.
func answered(a answer, texts ...string) []message {
	var results []result
	for i, text := range texts {
		results = append(results, result{a.choice.calls[i].id, text})
	}
	return []message{{said: &a}, {results: results}}
}

// names are the names of the calls.
func (c choice) names() []string {
	var list []string
	for _, call := range c.calls {
		list = append(list, call.name)
	}
	return list
}

// citySchema is the schema of structured answers.
func citySchema() map[string]any {
	return map[string]any{
		"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
		"required": []string{"city"}, "additionalProperties": false,
	}
}
