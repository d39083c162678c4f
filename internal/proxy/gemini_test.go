package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

// geminiMethods are the ways to ask for an answer.
var geminiMethods = []string{":generateContent", ":streamGenerateContent?alt=sse", ":streamGenerateContent"}

func geminiBody(texts ...string) []byte {
	var contents []object
	for i, text := range texts {
		role := [...]string{"user", "model"}[i%2]
		contents = append(contents, object{"role": role, "parts": []object{{"text": text}}})
	}
	return marshal(object{"contents": contents})
}

// An approved call comes without the model in the shape that was asked for, once, and a count does not use it up.
func TestGeminiReplay(t *testing.T) {
	for _, method := range geminiMethods {
		t.Run(method, func(t *testing.T) {
			script, asked := mails(mailArgs)
			g, q := queued(t, options{script: script, doors: func(s *proxy.Settings) { s.Replay = true }})
			ask := func(method string, texts ...string) answer {
				return g.send("POST", "/gemini/v1beta/models/m"+method, geminiBody(texts...))
			}
			a := ask(method, "Mail it")
			id := approvalID.FindString(a.body)
			if a.verdict(t).Autonomy != "enforced" || id == "" || strings.Contains(a.body, "functionCall") {
				t.Fatalf("%s: %s", a.header.Get("X-Mnemom-Verdict"), a.body)
			}
			notice := "[The call to the tool send_email waits for a human's approval (tools named send_email need approval unless a rule allows them by name): " +
				id + ", https://gate.example/v1/approvals/" + id + ". The tool did not run.]"
			if _, err := q.Approve(t.Context(), id, approval.Decision{By: "mk-1"}); err != nil {
				t.Fatal(err)
			}
			if a := ask(":countTokens", "Mail it", notice, "Go on"); a.status != 200 || !strings.Contains(a.body, "totalTokens") {
				t.Errorf("a count: %d %s", a.status, a.body)
			}
			if got := g.approvals(approval.Consumed); len(got) != 0 {
				t.Fatalf("the count has used it up: %+v", got)
			}
			*asked = 1
			a = ask(method, "Mail it", notice, "Go on")
			if *asked != 1 || a.verdict(t).Autonomy != "observed" || !strings.Contains(a.body, "12345678901234567890") || !strings.Contains(a.body, `"finishReason":"STOP"`) {
				t.Errorf("asked %d times, %s: %s", *asked, a.header.Get("X-Mnemom-Verdict"), a.body)
			}
			if got := g.approvals(approval.Consumed); len(got) != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Nothing that a nudge queued for the model's next turn goes into a count.
func TestGeminiCountKeepsReminders(t *testing.T) {
	g := start(t, options{script: func(r fake.Request) fake.Turn {
		return fake.Turn{Text: "The token is " + secret}
	}, settings: func(s *checkpoint.Settings) { s.Protection = gatehouse.Nudge }})
	ask := func(method, text string) answer {
		return g.send("POST", "/gemini/v1beta/models/m"+method, geminiBody(text), "X-Mnemom-Session", "s")
	}
	if a := ask(":generateContent", "one"); a.verdict(t).Back != "nudged" {
		t.Fatalf("%s %s", a.header.Get("X-Mnemom-Verdict"), a.body)
	}
	ask(":countTokens", "two")
	ask(":generateContent", "three")
	sent := g.gemini.Requests()
	if strings.Contains(string(sent[1].Body), "Gateway notice") || !strings.Contains(string(sent[2].Body), "Gateway notice") {
		t.Errorf("count %s\nturn %s", sent[1].Body, sent[2].Body)
	}
}

// An upstream that dies, or that answers something else than the array or the events that were asked for.
func TestGeminiAnswersThatBreak(t *testing.T) {
	chunk := `{"candidates":[{"content":{"role":"model","parts":[{"text":"words that go on"}]}}]}`
	cases := []struct {
		desc, kind, body string
		status           int
		cut              bool
		holds            string
	}{
		{"an array without its end", "application/json", "[" + chunk + ",", 200, true, "words that go on"},
		{"an array cut in an element", "application/json", "[" + chunk + "," + chunk[:30], 200, true, "words that go on"},
		{"an array cut at once", "application/json", "[", 502, false, "upstream_interrupted"},
		{"an array with something behind it", "application/json", "[" + chunk + "]x", 502, false, "upstream_malformed"},
		{"an array of numbers", "application/json", "[1]", 502, false, "upstream_malformed"},
		{"an element that is no JSON", "application/json", "[{a}]", 502, false, "upstream_malformed"},
		{"one object", "application/json; charset=UTF-8", chunk, 200, false, "words that go on"},
		{"events", "text/event-stream", "data: " + chunk + "\n\n", 200, false, "words that go on"},
		{"HTML", "text/html", "<html>", 502, false, "upstream_malformed"},
		{"nothing", "application/json", "", 502, false, "upstream_"},
		{"an empty array", "application/json", "[]", 200, false, "[]"},
		{"a large array", "application/json", "[" + strings.Repeat(chunk+",", 20000) + chunk + "]", 503, false, "checkpoint_unavailable"},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			g := start(t, options{handler: saying(c.kind, c.body)})
			a := g.send("POST", "/gemini/v1beta/models/m:streamGenerateContent", geminiBody("hello"))
			if a.status != c.status || (a.err != nil) != c.cut || !strings.Contains(a.body, c.holds) {
				t.Errorf("%d, %v, %.300s", a.status, a.err, a.body)
			}
			if r := g.record(a); r.Status != c.status {
				t.Errorf("the record says %d", r.Status)
			}
		})
	}
}

// saying is a server that answers one thing and closes.
func saying(kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	})
}

func TestGeminiModelOfTheAddress(t *testing.T) {
	g := start(t, options{})
	a := g.send("POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", geminiBody("hello"))
	if r := g.record(a); r.Model != "gemini-2.5-pro" || !r.Stream || r.Endpoint != "/v1beta/models/gemini-2.5-pro:streamGenerateContent" {
		t.Errorf("%+v", r)
	}
	for _, query := range []string{"alt=proto", "%24alt=media"} {
		if a := g.send("POST", "/v1beta/models/m:generateContent?"+query, geminiBody("hello")); a.status != 400 || !strings.Contains(a.body, "INVALID_ARGUMENT") {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	if n := len(g.received()); n != 1 {
		t.Errorf("%d requests upstream", n)
	}
}
