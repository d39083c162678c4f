package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
	"github.com/gatehouse-gateway/gatehouse/agent/anthropic"
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

func model(t *testing.T, script fake.Script) (*anthropic.Model, *fake.Anthropic) {
	t.Helper()
	provider := &fake.Anthropic{Script: script}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return anthropic.New("claude-test", option.WithoutEnvironmentDefaults(), option.WithBaseURL(server.URL), option.WithAPIKey("sk-ant-test"),
		option.WithMaxRetries(0)), provider
}

// What the model is sent, as the API wants it: all results of a turn in one turn of the user, failures marked, the signed thoughts
// of the turn before its calls.
func TestConversation(t *testing.T) {
	turn := 0
	m, provider := model(t, func(fake.Request) fake.Turn {
		if turn++; turn > 1 {
			return fake.Turn{Text: "It is cold."}
		}
		return fake.Turn{Raw: []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","stop_reason":"tool_use",
			"usage":{"input_tokens":3,"output_tokens":4},"content":[
			{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"c2VhbGVk"},{"type":"text","text":"I look."},
			{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo","n":12345678901234567890}},
			{"type":"tool_use","id":"toolu_2","name":"unknown","input":{}}]}`)}
	})
	m.MaxTokens = 77
	m.Adjust = func(p *sdk.MessageNewParams) { p.Temperature = sdk.Float(0.5) }
	weather := func(_ context.Context, arguments json.RawMessage) (string, error) {
		return "4 degrees for " + string(arguments), nil
	}
	r, err := agent.Run(t.Context(), agent.Config{Checker: pass{}, Model: m, System: "Be brief.", Prompt: "Weather?", Tools: map[string]agent.Tool{
		"weather": {Description: "Says the weather.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`), Handler: weather}}})
	if err != nil || r.Status != agent.Done || r.Text != "It is cold." || r.Usage.Input <= 3 || r.Usage.Output <= 4 {
		t.Fatalf("%+v %v", r, err)
	}
	same(t, provider.Requests()[1].Body, `{"model":"claude-test","max_tokens":77,"temperature":0.5,"system":[{"type":"text","text":"Be brief."}],
		"tools":[{"name":"weather","description":"Says the weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"Weather?"}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"c2VhbGVk"},
				{"type":"text","text":"I look."},
				{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo","n":12345678901234567890}},
				{"type":"tool_use","id":"toolu_2","name":"unknown","input":{}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":[{"type":"text","text":"4 degrees for {\"city\":\"Oslo\",\"n\":12345678901234567890}"}]},
				{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[{"type":"text","text":"There is no tool of this name."}]}]}]}`)
}

// same compares JSON documents.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	for text, v := range map[string]any{string(got): &a, want: &b} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("sent\n%s\nwant\n%s", x, y)
	}
}

func TestErrorsAreTheSDKs(t *testing.T) {
	m, _ := model(t, func(fake.Request) fake.Turn { return fake.Turn{Status: 529, Error: "overloaded"} })
	r, err := agent.Run(t.Context(), agent.Config{Checker: pass{}, Model: m, Prompt: "hello"})
	var own *sdk.Error
	if !errors.As(err, &own) || own.StatusCode != 529 || r.Run == nil {
		t.Fatalf("%v", err)
	}
	m, _ = model(t, nil)
	if r, err = agent.Resume(t.Context(), agent.Config{Checker: pass{}, Model: m}, r.Run); err != nil || r.Text != "You said: hello" {
		t.Errorf("%+v %v", r, err)
	}
}

// The API refuses texts of nothing: a tool that has nothing to say has a result without content, and a turn without anything is left
// out.
func TestEmptyTexts(t *testing.T) {
	m, provider := model(t, func(fake.Request) fake.Turn { return fake.Turn{Text: "ok"} })
	_, err := m.Answer(t.Context(), agent.Request{Messages: []agent.Message{{Role: gatehouse.User, Text: "a"},
		{Role: gatehouse.Assistant, Calls: []agent.Call{{ID: "t", Tool: "x", Arguments: "not JSON"}}},
		{Role: gatehouse.Tool, CallID: "t", Tool: "x"}, {Role: gatehouse.User, Text: "b"}, {Role: gatehouse.Assistant, Text: " "}, {Role: gatehouse.User, Text: "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, provider.Requests()[0].Body, `{"model":"claude-test","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":false},{"type":"text","text":"b"},{"type":"text","text":"c"}]}]}`)
}

func TestCutAnswers(t *testing.T) {
	for reason, cut := range map[string]string{"max_tokens": "max_tokens", "refusal": "refusal", "end_turn": "", "stop_sequence": ""} {
		m, _ := model(t, func(fake.Request) fake.Turn {
			return fake.Turn{Raw: []byte(`{"type":"message","role":"assistant","stop_reason":"` + reason + `","content":[{"type":"text","text":"half"}]}`)}
		})
		a, err := m.Answer(t.Context(), agent.Request{Messages: []agent.Message{{Role: gatehouse.User, Text: "hello"}}})
		if err != nil || a.Text != "half" || a.Cut != cut {
			t.Errorf("%s: %+v %v", reason, a, err)
		}
	}
}
