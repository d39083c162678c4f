package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
	"github.com/gatehouse-gateway/gatehouse/agent/openai"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// pass is a checker that sees nothing.
type pass struct{}

func (pass) Check(_ context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	d := gatehouse.Decision{At: at, Mode: gatehouse.Observe, Verdict: gatehouse.Allow, Would: gatehouse.Allow, Outcome: gatehouse.Pass}
	x.Decisions = append(x.Decisions, d)
	return d
}

func (pass) Finish(context.Context, *gatehouse.Exchange) error { return nil }

func model(t *testing.T, script fake.Script) (*openai.Model, *fake.OpenAI) {
	t.Helper()
	provider := &fake.OpenAI{Script: script}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return openai.New("gpt-test", option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("sk-test"), option.WithMaxRetries(0)), provider
}

// What the model is sent, turn by turn, as the API wants it: each result by its call's id, in the order of the calls.
func TestConversation(t *testing.T) {
	m, provider := model(t, func(r fake.Request) fake.Turn {
		if r.Last().Role == "tool" {
			return fake.Turn{Text: "It is cold."}
		}
		return fake.Turn{Calls: []fake.Call{{ID: "call_1", Name: "weather", Args: `{"city":"Oslo","n":12345678901234567890}`}, {ID: "call_2", Name: "weather", Args: `{}`},
			{ID: "call_3", Name: "unknown", Args: `{}`}}}
	})
	m.MaxTokens = 77
	m.Adjust = func(p *sdk.ChatCompletionNewParams) { p.Temperature = sdk.Float(0.5) }
	weather := func(_ context.Context, arguments json.RawMessage) (string, error) {
		return "4 degrees for " + string(arguments), nil
	}
	r, err := agent.Run(t.Context(), agent.Config{Checker: pass{}, Model: m, System: "Be brief.", Prompt: "Weather?", Tools: map[string]agent.Tool{
		"weather": {Description: "Says the weather.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`), Handler: weather}}})
	if err != nil || r.Status != agent.Done || r.Text != "It is cold." || r.Usage.Input == 0 || r.Usage.Output == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	same(t, provider.Requests()[1].Body, `{"model":"gpt-test","max_completion_tokens":77,"temperature":0.5,
		"tools":[{"type":"function","function":{"name":"weather","description":"Says the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},
			{"role":"assistant","tool_calls":[
				{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\",\"n\":12345678901234567890}"}},
				{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{}"}},
				{"id":"call_3","type":"function","function":{"name":"unknown","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"call_1","content":"4 degrees for {\"city\":\"Oslo\",\"n\":12345678901234567890}"},
			{"role":"tool","tool_call_id":"call_2","content":"4 degrees for {}"},
			{"role":"tool","tool_call_id":"call_3","content":"There is no tool of this name."}]}`)
}

// same compares JSON documents.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("sent\n%s\nwant\n%s", x, y)
	}
}

func TestErrorsAreTheSDKs(t *testing.T) {
	m, _ := model(t, func(fake.Request) fake.Turn { return fake.Turn{Status: 429, Error: "slow down"} })
	r, err := agent.Run(t.Context(), agent.Config{Checker: pass{}, Model: m, Prompt: "hello"})
	var own *sdk.Error
	if !errors.As(err, &own) || own.StatusCode != 429 || r.Run == nil {
		t.Fatalf("%v", err)
	}
	m, _ = model(t, nil)
	if r, err = agent.Resume(t.Context(), agent.Config{Checker: pass{}, Model: m}, r.Run); err != nil || r.Text != "You said: hello" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ desc, body, text, cut, thought string }{
		{"cut by length", `{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"half"}}]}`, "half", "length", ""},
		{"stopped by a filter", `{"choices":[{"finish_reason":"content_filter","message":{"role":"assistant","content":""}}]}`, "", "content_filter", ""},
		{"refused", `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"No."}}]}`, "No.", "", ""},
		{"with reasoning", `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Yes.","reasoning_content":"Hm."}}]}`, "Yes.", "", "Hm."},
	} {
		t.Run(c.desc, func(t *testing.T) {
			m, _ := model(t, func(fake.Request) fake.Turn { return fake.Turn{Raw: []byte(c.body)} })
			a, err := m.Answer(t.Context(), agent.Request{Messages: []agent.Message{{Role: gatehouse.User, Text: "hello"}}})
			if err != nil || a.Text != c.text || a.Cut != c.cut || (c.thought != "") != (len(a.Thoughts) == 1) || c.thought != "" && a.Thoughts[0].Text != c.thought {
				t.Errorf("%+v %v", a, err)
			}
		})
	}
	m, _ := model(t, func(fake.Request) fake.Turn { return fake.Turn{Raw: []byte(`{"choices":[]}`)} })
	if _, err := m.Answer(t.Context(), agent.Request{}); err == nil {
		t.Error("an answer without a choice is no error")
	}
}
