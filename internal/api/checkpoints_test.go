package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// views is a gateway on loopback without keys, as it starts without a configuration.
func views(t *testing.T, change func(*config.Config)) (ask func(path, body string, header ...string) (int, http.Header, map[string]any)) {
	t.Helper()
	return viewsAt(t, new(string), change)
}

// viewsAt is the same, and says where.
func viewsAt(t *testing.T, address *string, change func(*config.Config)) (ask func(path, body string, header ...string) (int, http.Header, map[string]any)) {
	t.Helper()
	cfg := config.Default()
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	if change != nil {
		change(cfg)
	}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	*address = server.URL
	return func(path, body string, header ...string) (int, http.Header, map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/checkpoints/"+path, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer sk-agent")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var out map[string]any
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		if _, err := verdict.ParseStrict(res.Header.Get(verdict.Header)); err != nil {
			t.Errorf("header surface: %v", err)
		}
		return res.StatusCode, res.Header, out
	}
}

func TestViewsOfTheCheckpoints(t *testing.T) {
	ask := views(t, nil)
	cases := []struct {
		desc, path, body string
		want             map[string]any // members of the answer
		header           string
	}{
		{"an ordinary input", "input", `{"text":"hello"}`, map[string]any{"verdict": "allow", "would": "allow", "text": nil},
			"front=pass; autonomy=pass; integrity=pass; back=pass"},
		{"an injected input", "input", `{"text":"` + attack + `"}`, map[string]any{"verdict": "block", "would": "block", "text": nil},
			"front=enforced; autonomy=pass; integrity=pass; back=pass"},
		{"a poisoned result further back in messages is cut", "input",
			`{"messages":[{"role":"tool","content":"Fine weather. ` + attack + `"},{"role":"assistant","content":"ok"},{"role":"user","content":"thanks"}]}`,
			map[string]any{"verdict": "redact"}, "front=enforced; autonomy=pass; integrity=pass; back=pass"},
		{"a call that nothing speaks of", "tool-call", `{"tool":"search","arguments":{"q":"x"},"call_id":"c"}`,
			map[string]any{"verdict": "allow", "rule": "default", "call_id": "c"}, "front=pass; autonomy=pass; integrity=pass; back=pass"},
		{"a call that is flagged", "tool-call", `{"tool":"mcp__gmail__sendEmail","arguments":{}}`,
			map[string]any{"verdict": "flag", "rule": "built-in flag send_email"}, "front=pass; autonomy=enforced; integrity=pass; back=pass"},
		{"arguments that name a key twice", "tool-call", `{"tool":"search","arguments":"{\"a\":1,\"a\":2}"}`,
			map[string]any{"verdict": "block", "rule": "arguments", "digest": ""}, "front=pass; autonomy=enforced; integrity=pass; back=pass"},
		{"arguments of the question itself that name a key twice", "tool-call", `{"tool":"search","arguments":{"a":{"b":1,"b":2}}}`,
			map[string]any{"verdict": "block", "rule": "arguments", "digest": ""}, "front=pass; autonomy=enforced; integrity=pass; back=pass"},
		{"a clean result keeps its form", "tool-result", `{"tool":"x","result":{"n":1.50}}`,
			map[string]any{"verdict": "allow", "result": map[string]any{"n": 1.5}, "redactions": []any{}}, "front=pass; autonomy=pass; integrity=pass; back=pass"},
		{"a result that holds a number of a person", "tool-result", `{"tool":"x","result":{"ssn":"219-09-9999","n":7}}`,
			map[string]any{"verdict": "redact", "result": map[string]any{"ssn": "[SSN REDACTED]", "n": 7.0}}, "front=enforced; autonomy=pass; integrity=pass; back=pass"},
		{"a number that is a card", "tool-result", `{"tool":"x","result":4111111111111111}`,
			map[string]any{"result": 0.0}, "front=enforced; autonomy=pass; integrity=pass; back=pass"},
		{"a call without arguments", "tool-call", `{"tool":"search","arguments":null}`,
			map[string]any{"verdict": "allow", "digest": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
			"front=pass; autonomy=pass; integrity=pass; back=pass"},
		{"a result that is nothing but payload", "tool-result", `{"tool":"x","result":"` + attack + `"}`,
			map[string]any{"verdict": "block", "would": "block", "result": "[tool result withheld by the gateway: suspected injection]"},
			"front=enforced; autonomy=pass; integrity=pass; back=pass"},
		{"an answer with a card", "output", `{"text":"it is 4111 1111 1111 1111"}`,
			map[string]any{"verdict": "redact", "result": "it is [CARD REDACTED]"}, "front=pass; autonomy=pass; integrity=pass; back=enforced"},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			status, header, got := ask(c.path, c.body)
			if status != http.StatusOK || header.Get(verdict.Header) != c.header {
				t.Errorf("%d, %s; want 200, %s", status, header.Get(verdict.Header), c.header)
			}
			for name, want := range c.want {
				have, there := got[name]
				if a, b := encoded(t, have), encoded(t, want); !there || a != b {
					t.Errorf("%s: %s, want %s", name, a, b)
				}
			}
			if score, ok := got["score"].(float64); c.desc == "an injected input" && (!ok || score < 0.95) {
				t.Errorf("score %v of what is blocked", got["score"])
			}
			if got["request_id"] != header.Get("X-Mnemom-Request-Id") || got["session"] != header.Get("X-Mnemom-Session") {
				t.Errorf("ids of the answer and of its header differ: %v", got)
			}
		})
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestBadQuestionsToCheckpoints(t *testing.T) {
	ask := views(t, nil)
	for _, c := range []struct{ path, body string }{
		{"input", `{}`}, {"input", `{"text":"a","messages":[]}`}, {"input", `{"messages":[{"role":"king","content":"x"}]}`},
		{"input", `{"text":5}`}, {"input", `{"text":"a","session":"no spaces"}`}, {"input", `not json`}, {"input", `{"text":"a","text":"b"}`},
		{"tool-call", `{"arguments":{}}`}, {"tool-call", `{"tool":"x","arguments":{},"arguments":{}}`}, {"tool-call", `{"tool":"x","arguments":{}`}, {"tool-result", `{"tool":"x"}`}, {"output", `{}`}, {"output", `{"text":"a","mode":"off"}`},
	} {
		if status, _, got := ask(c.path, c.body); status != http.StatusBadRequest {
			t.Errorf("%s %s: %d %v", c.path, c.body, status, got)
		}
	}
}

func TestAVerdictTellsWhatItWereWithoutModes(t *testing.T) {
	ask := views(t, func(c *config.Config) { c.Protection.Mode, c.Alignment.AutonomyMode = "observe", "observe" })
	_, header, got := ask("input", `{"text":"`+attack+`"}`)
	if got["verdict"] != "allow" || got["would"] != "block" || header.Get(verdict.Header) != "front=observed; autonomy=pass; integrity=pass; back=pass" {
		t.Errorf("%v, %s", got, header.Get(verdict.Header))
	}
	_, _, got = ask("tool-call", `{"tool":"send_email"}`)
	if got["verdict"] != "allow" || got["would"] != "flag" {
		t.Errorf("%v", got)
	}
}

func TestTheSameQuestionGetsTheSameAnswer(t *testing.T) {
	ask := views(t, nil)
	_, _, first := ask("tool-call", `{"tool":"search","arguments":{}}`, "Idempotency-Key", "one")
	status, header, second := ask("tool-call", `{"tool":"search","arguments":{}}`, "Idempotency-Key", "one")
	if status != http.StatusOK || header.Get("Idempotent-Replay") != "true" || encoded(t, first) != encoded(t, second) {
		t.Errorf("%d, %v; first %v, then %v", status, header, first, second)
	}
	_, blocked, _ := ask("input", `{"text":"`+attack+`"}`, "Idempotency-Key", "two")
	_, again, _ := ask("input", `{"text":"`+attack+`"}`, "Idempotency-Key", "two")
	if blocked.Get(verdict.Header) != again.Get(verdict.Header) || blocked.Get(verdict.AdvisoryHeader) != again.Get(verdict.AdvisoryHeader) {
		t.Errorf("first %s, then %s", blocked.Get(verdict.Header), again.Get(verdict.Header))
	}
	if status, _, _ := ask("tool-call", `{"tool":"other"}`, "Idempotency-Key", "one"); status != http.StatusUnprocessableEntity {
		t.Errorf("another question with the key: %d", status)
	}
}

func TestSpellingOfArgumentsDoesNotChangeTheirDigest(t *testing.T) {
	ask := views(t, nil)
	digest := func(arguments string) any {
		_, _, got := ask("tool-call", `{"tool":"pay","arguments":`+arguments+`}`)
		return got["digest"]
	}
	first := digest(`{"to":"DE1","amount":1.50}`)
	if other := digest(`{ "amount":15e-1, "to":"D\u00451"}`); other != first {
		t.Errorf("spelling changed the digest: %v, %v", first, other)
	}
	for _, arguments := range []string{`{"to":"DE2","amount":1.50}`, `{"to":"DE1","amount":1.51}`, `{"to":"DE1","amount":"1.50"}`} {
		if digest(arguments) == first {
			t.Errorf("%s has the same digest", arguments)
		}
	}
	if digest(`{"n":12345678901234567890}`) == digest(`{"n":12345678901234567891}`) {
		t.Error("two numbers of twenty digits have one digest")
	}
}

func TestWhatWaitsForTheNextTurn(t *testing.T) {
	const admin = "mnm_administrator-of-this-test"
	var address string
	ask := viewsAt(t, &address, func(c *config.Config) { c.Protection.Mode, c.Auth.AdminToken = "nudge", admin })
	_, _, said := ask("output", `{"session":"s","text":"card 4111 1111 1111 1111"}`)
	waiting := func() []any {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1/agents/"+fmt.Sprint(said["agent_id"])+"/advisories?kind=pending&session_id=s", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Mnemom-Api-Key", admin)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body struct{ Advisories []any }
		if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d, %v", res.StatusCode, err)
		}
		return body.Advisories
	}
	list := waiting()
	if len(list) != 1 || !strings.Contains(encoded(t, list), `"request_id":"`+fmt.Sprint(said["request_id"])) {
		t.Fatalf("waiting: %v", list)
	}
	if _, _, other := ask("input", `{"session":"another","text":"hello"}`); other["text"] != nil {
		t.Errorf("another session was told: %v", other)
	}
	_, _, next := ask("input", `{"session":"s","text":"hello"}`)
	if text := fmt.Sprint(next["text"]); !strings.HasPrefix(text, "hello") || !strings.Contains(text, "about your previous answer") {
		t.Errorf("the next turn: %v", next)
	}
	if list := waiting(); len(list) != 0 {
		t.Errorf("still waiting: %v", list)
	}
}

func TestOnlyAnAdminNamesAnAgent(t *testing.T) {
	const admin = "mnm_administrator-of-this-test"
	ask := views(t, func(c *config.Config) { c.Auth.AdminToken = admin })
	_, _, said := ask("input", `{"text":"hello"}`)
	agent := fmt.Sprint(said["agent_id"])
	named := `{"text":"hello","agent":"` + agent + `"}`
	if status, _, got := ask("input", named); status != http.StatusForbidden {
		t.Errorf("a caller without a key: %d %v", status, got)
	}
	status, header, got := ask("input", named, "X-Mnemom-Api-Key", admin)
	if status != http.StatusOK || got["agent_id"] != agent || header.Get("X-Mnemom-Agent") != agent {
		t.Errorf("the administrator: %d %v", status, got)
	}
	if status, _, got := ask("input", `{"text":"hello","agent":"mnm-unknown"}`, "X-Mnemom-Api-Key", admin); status != http.StatusNotFound {
		t.Errorf("an unknown agent: %d %v", status, got)
	}
	// The header's name is not needed then, and no excuse for a bad one.
	for _, name := range []string{"F~&Woe5", "-", agent[:39]} {
		if status, _, got := ask("input", named, "X-Mnemom-Api-Key", admin, "X-Mnemom-Agent", name); status != http.StatusBadRequest || code(got) != "invalid_agent_name" {
			t.Errorf("the administrator, whose header says %s: %d %v", name, status, got)
		}
	}
	if status, _, got := ask("input", named, "X-Mnemom-Api-Key", admin, "X-Mnemom-Agent", "tools"); status != http.StatusOK || got["agent_id"] != agent {
		t.Errorf("the administrator, by another name: %d %v", status, got)
	}
}

func TestQuestionsCountForTheRateOfAnAgent(t *testing.T) {
	ask := views(t, func(c *config.Config) { c.Limits.Rate = 2 })
	var status int
	var header http.Header
	for range 3 {
		status, header, _ = ask("input", `{"text":"hello"}`)
	}
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
		t.Errorf("the third: %d, Retry-After %q", status, header.Get("Retry-After"))
	}
	if status, _, _ := ask("input", `{"text":"hello"}`, "Authorization", "Bearer sk-another"); status != http.StatusOK {
		t.Errorf("another agent: %d", status)
	}
}
