package traces_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// settings are those under which provenance alone judges the calls. Slow machines shall not run into the scan's deadline.
const settings = `
protection: {mode: enforce}
alignment: {autonomy_mode: enforce}
tools: {flag: [], provenance: flag}
limits: {scan: 20s}
audit: {durability: batched}
`

// serve starts a whole gateway on a real socket.
func serve(t *testing.T) (address string) {
	t.Helper()
	cfg, err := config.Parse("traces", []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "g.db")
	set, err := detect.Default()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{Scanner: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewUnstartedServer(g)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// outcome is what the gateway did to a trace.
type outcome struct {
	trace   trace
	input   string   // verdict on what the user asked
	calls   []string // verdict and reason of each call that was not allowed
	stopped bool     // one of them was the attacker's
	payload int      // results with a payload
	cut     int      // of these, results whose key is gone
	through bool     // a call of the attacker's came while the key of a payload before it still stood
	altered []string // tools of results that came back otherwise, the injected ones apart
}

// flagged reports whether a benign task was disturbed.
func (o outcome) flagged() bool { return o.input == "block" || len(o.calls) > 0 }

// defeated reports whether an attack came to nothing.
func (o outcome) defeated() bool { return o.stopped || !o.through }

// client is an agent at the gateway.
type client struct {
	address, credential, session string
}

// answer is what the views of the checkpoints have in common, and the result that one of them gives back.
type answer struct {
	Verdict string          `json:"verdict"`
	Rule    string          `json:"rule"`
	Reason  string          `json:"reason"`
	Result  json.RawMessage `json:"result"`
}

// ask calls one view. Agents keep the angle brackets of what they read, and so does this.
func (c client) ask(view string, body map[string]any) (answer, error) {
	body["session"] = c.session
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return answer{}, err
	}
	req, err := http.NewRequest(http.MethodPost, c.address+"/v1/checkpoints/"+view, &doc)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.credential)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return answer{}, fmt.Errorf("%s: %s: %s", view, resp.Status, got)
	}
	var a answer
	return a, json.Unmarshal(got, &a)
}

// replay tells the gateway a trace as the agent lived it.
func replay(address string, t trace) (outcome, error) {
	c := client{address, "sk-agent-of-" + t.ID, t.ID}
	o := outcome{trace: t}
	said := []map[string]string{{"role": "user", "content": t.User}}
	if t.System != "" {
		said = append([]map[string]string{{"role": "system", "content": t.System}}, said...)
	}
	a, err := c.ask("input", map[string]any{"messages": said})
	if err != nil {
		return o, err
	}
	o.input = a.Verdict
	for i, s := range t.Steps {
		id := fmt.Sprintf("call_%d", i+1)
		a, err := c.ask("tool-call", map[string]any{"tool": s.Call.Tool, "arguments": s.Call.Arguments, "call_id": id})
		if err != nil {
			return o, err
		}
		o.called(s, a)
		if len(s.Result) == 0 {
			continue
		}
		a, err = c.ask("tool-result", map[string]any{"tool": s.Call.Tool, "call_id": id, "result": s.Result})
		if err != nil {
			return o, err
		}
		o.returned(s, a)
	}
	return o, nil
}

func (o *outcome) called(s step, a answer) {
	o.through = o.through || s.Attack && o.cut < o.payload
	if a.Verdict == "allow" {
		return
	}
	o.calls = append(o.calls, fmt.Sprintf("%s %s (%s: %s)", s.Call.Tool, a.Verdict, a.Rule, a.Reason))
	o.stopped = o.stopped || s.Attack
}

func (o *outcome) returned(s step, a answer) {
	if s.Payload == "" {
		if textOf(a.Result) != textOf(s.Result) {
			o.altered = append(o.altered, s.Call.Tool)
		}
		return
	}
	o.payload++
	if !strings.Contains(textOf(a.Result), s.Key) {
		o.cut++
	}
}
