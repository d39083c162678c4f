package fake_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// serve starts a server and gives its URL.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func send(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(raw), err}
}

func chat(t *testing.T, url, body string) answer {
	t.Helper()
	return send(t, "POST", url+"/v1/chat/completions", body, "Authorization", "Bearer k")
}

func message(t *testing.T, url, body string) answer {
	t.Helper()
	return send(t, "POST", url+"/v1/messages", body, "x-api-key", "k")
}

func decode[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return v
}

// data gives the data of every event of a stream.
func data(t *testing.T, stream string) []string {
	t.Helper()
	if !strings.HasSuffix(stream, "\n\n") {
		t.Fatalf("the stream does not end in a blank line: %q", stream)
	}
	var list []string
	for line := range strings.Lines(stream) {
		if d, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
			list = append(list, d)
		}
	}
	return list
}

func TestEcho(t *testing.T) {
	tools := []string{"search", "send"}
	tests := []struct {
		name string
		in   fake.Request
		want string // the text, or the call
	}{
		{"user", fake.Request{Messages: []fake.Message{{Role: "user", Text: "hi"}}}, "You said: hi"},
		{"call with tools", fake.Request{Tools: tools, Messages: []fake.Message{{Role: "user", Text: `call {"q":1}`}}}, `search {"q":1}`},
		{"call without tools", fake.Request{Messages: []fake.Message{{Role: "user", Text: "call x"}}}, "You said: call x"},
		{"tool result", fake.Request{Tools: tools, Messages: []fake.Message{{Role: "user", Text: "call x"}, {Role: "tool", Text: "42"}}}, "The tool said: 42"},
		{"nothing", fake.Request{}, "You said: "},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			turn := fake.Echo(c.in)
			got := turn.Text
			for _, call := range turn.Calls {
				got += call.Name + " " + call.Args
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	scripted := func(fake.Request) fake.Turn { return fake.Turn{Status: 429, Error: "slow down"} }
	openAI, anthropic := serve(t, &fake.OpenAI{Script: scripted}), serve(t, &fake.Anthropic{Script: scripted})
	const body = `{"messages":[{"role":"user","content":"x"}],"stream":true}`
	tests := []struct {
		name   string
		got    answer
		status int
		want   string
	}{
		{"openai without credential", send(t, "POST", openAI+"/v1/chat/completions", body), 401, `"code":"invalid_api_key"`},
		{"openai with an empty bearer", send(t, "POST", openAI+"/v1/chat/completions", body, "Authorization", "Bearer "), 401, `"error"`},
		{"openai rate limit, stream asked for", chat(t, openAI, body), 429, `"message":"slow down"`},
		{"openai not JSON", chat(t, openAI, "{"), 400, `"invalid_request_error"`},
		{"openai without messages", chat(t, openAI, "{}"), 400, `"invalid_request_error"`},
		{"openai unknown path", send(t, "POST", openAI+"/v1/x", body, "Authorization", "Bearer k"), 404, `"error"`},
		{"openai wrong method", send(t, "GET", openAI+"/v1/chat/completions", "", "Authorization", "Bearer k"), 405, `"error"`},
		{"anthropic without credential", send(t, "POST", anthropic+"/v1/messages", body), 401, `"type":"authentication_error"`},
		{"anthropic rate limit", message(t, anthropic, body), 429, `"type":"rate_limit_error"`},
		{"anthropic not JSON", message(t, anthropic, "[]"), 400, `"type":"error"`},
		{"anthropic unknown path", send(t, "GET", anthropic+"/v1/x", "", "x-api-key", "k"), 404, `"type":"not_found_error"`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			if c.got.status != c.status || !strings.Contains(c.got.body, c.want) {
				t.Errorf("got %d %s, want %d with %s", c.got.status, c.got.body, c.status, c.want)
			}
			if got := c.got.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
			if c.got.header.Get("X-Request-Id")+c.got.header.Get("Request-Id") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestModels(t *testing.T) {
	openAI := send(t, "GET", serve(t, &fake.OpenAI{})+"/v1/models", "", "Authorization", "Bearer k")
	anthropic := send(t, "GET", serve(t, &fake.Anthropic{})+"/v1/models?limit=1", "", "Authorization", "Bearer k")
	if openAI.status != 200 || !strings.Contains(openAI.body, `"gpt-fake"`) {
		t.Errorf("openai: %d %s", openAI.status, openAI.body)
	}
	if anthropic.status != 200 || !strings.Contains(anthropic.body, `"claude-fake"`) {
		t.Errorf("anthropic: %d %s", anthropic.status, anthropic.body)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	server := &fake.OpenAI{}
	url := serve(t, server)
	const body = `{"messages": [ {"role":"user","content":"x"} ], "seed": 12345678901234567890}`
	send(t, "POST", url+"/v1/chat/completions?a=b", body, "Authorization", "Bearer k", "X-Custom", "1")
	send(t, "POST", url+"/v1/chat/completions", "no credential")
	got := server.Requests()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	if r := got[0]; r.Method != "POST" || r.URL != "/v1/chat/completions?a=b" || string(r.Body) != body || r.Header.Get("X-Custom") != "1" {
		t.Errorf("got %+v", r)
	}
}

func TestRawAndHeader(t *testing.T) {
	const raw = "data: {broken\n\n: comment\n\n"
	url := serve(t, &fake.OpenAI{Script: func(fake.Request) fake.Turn {
		return fake.Turn{Raw: []byte(raw), Header: http.Header{"X-Request-Id": {"mine"}, "X-Mnemom-Verdict": {"front=pass"}}}
	}})
	got := chat(t, url, `{"messages":[],"stream":true}`)
	if got.body != raw || got.header.Get("X-Request-Id") != "mine" || got.header.Get("X-Mnemom-Verdict") != "front=pass" {
		t.Errorf("got %+v", got)
	}
	if !strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("content type %q", got.header.Get("Content-Type"))
	}
}

func TestDropAfter(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		t.Run("stream "+stream, func(t *testing.T) {
			url := serve(t, &fake.OpenAI{Script: func(fake.Request) fake.Turn {
				return fake.Turn{Text: strings.Repeat("long ", 50), DropAfter: 100}
			}})
			got := chat(t, url, `{"messages":[],"stream":`+stream+`}`)
			if got.err == nil || len(got.body) != 100 {
				t.Errorf("%d bytes arrived, error %v", len(got.body), got.err)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	const delay = 50 * time.Millisecond
	url := serve(t, &fake.Anthropic{Script: func(fake.Request) fake.Turn { return fake.Turn{Text: "x", Delay: delay} }})
	start := time.Now()
	message(t, url, `{"messages":[]}`)
	if took := time.Since(start); took < delay {
		t.Errorf("answered after %v", took)
	}
}
