package proxy_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

// What generates and cannot be read is refused at every door, and what the operator lists passes.
func TestUninspectedEndpoints(t *testing.T) {
	refused := []struct{ method, path string }{
		{"GET", "/openai/v1/realtime"}, {"POST", "/openai/v1/realtime/sessions"}, {"POST", "/openai/v1/realtime/client_secrets"},
		{"POST", "/openai/v1/batches"}, {"GET", "/openai/v1/batches/b1"},
		{"POST", "/openai/v1/assistants"}, {"POST", "/openai/v1/threads"}, {"POST", "/openai/v1/threads/t1/runs"}, {"GET", "/openai/v1/threads/t1/messages"},
		{"POST", "/openai/v1/audio/speech"}, {"POST", "/openai/v1/audio/transcriptions"}, {"POST", "/openai/v1/images/generations"}, {"POST", "/openai/v1/images/edits"},
		{"POST", "/openai/v1/videos"}, {"POST", "/openai/v1/fine_tuning/jobs"}, {"POST", "/openai/v1/evals"}, {"POST", "/openai/v1/containers"},
		{"POST", "/openai/v1/vector_stores/v1/search"}, {"GET", "/openai/v1/chat/completions"}, {"GET", "/openai/v1/chat/completions/c1/messages"}, {"POST", "/openai/v1/chat/completions/c1"},
		{"DELETE", "/openai/v1/models/m"}, {"POST", "/v1/batches"}, {"POST", "/v1/assistants"},
		{"POST", "/anthropic/v1/messages/batches"}, {"GET", "/anthropic/v1/messages/batches/b1/results"}, {"POST", "/anthropic/v1/complete"},
		{"POST", "/anthropic/v1/unheard-of"}, {"POST", "/v1/messages/batches"},
		{"POST", "/gemini/v1beta/models/m:batchGenerateContent"}, {"POST", "/gemini/v1beta/models/m:asyncBatchEmbedContent"}, {"POST", "/gemini/v1beta/models/m:predict"},
		{"POST", "/gemini/v1beta/models/m:predictLongRunning"}, {"POST", "/gemini/v1beta/models/m:generateAnswer"},
		{"POST", "/gemini/v1beta/cachedContents"}, {"POST", "/gemini/v1beta/tunedModels/t:generateContent"}, {"GET", "/gemini/v1beta/batches/b"}, {"POST", "/gemini/v1beta/interactions"},
		{"POST", "/gemini/v1beta/corpora/c:query"}, {"POST", "/gemini/v1beta/dynamic/d:generateContent"}, {"POST", "/gemini/v1alpha/auth_tokens"},
		{"GET", "/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"},
		{"GET", "/gemini/v1beta/models/m:generateContent"}, {"POST", "/gemini/v1beta/models/:generateContent"}, {"POST", "/gemini/v1beta/models/a/b:generateContent"},
		{"POST", "/gemini/v9/models/m:generateContent"}, {"POST", "/v1beta/models/m:batchGenerateContent"}, {"POST", "/u/gemini/v1beta/cachedContents"},
	}
	for _, c := range refused {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			g := start(t, options{})
			a := g.send(c.method, c.path, []byte(`{}`), "X-Api-Key", "sk-ant")
			if a.status != 403 || !strings.Contains(a.body, "uninspected_endpoint") || len(g.received()) > 0 {
				t.Errorf("%d %s, %d requests upstream", a.status, a.body, len(g.received()))
			}
			if r := g.record(a); r.Status != 403 || r.Error != "uninspected_endpoint" {
				t.Errorf("the record says %d %s", r.Status, r.Error)
			}
			name, rest := "", ""
			switch parts := strings.SplitN(strings.TrimPrefix(strings.TrimPrefix(c.path, "/"), "u/"), "/", 2); parts[0] {
			case "v1beta":
				name, rest = "gemini", c.path
			case "v1":
				if name, rest = "openai", c.path; strings.HasPrefix(c.path, "/v1/messages") {
					name = "anthropic"
				}
			default:
				name, rest = parts[0], "/"+parts[1]
			}
			g = start(t, options{doors: func(s *proxy.Settings) {
				u := s.Upstreams[name]
				u.AllowUninspected = []string{"/other", rest}
				s.Upstreams[name] = u
			}})
			if g.send(c.method, c.path, []byte(`{}`), "X-Api-Key", "sk-ant"); len(g.received()) != 1 {
				t.Error("listed, and yet it did not pass")
			}
		})
	}
}

func TestAllowedByPattern(t *testing.T) {
	for path, passes := range map[string]bool{"/openai/v1/batches/b1": true, "/openai/v1/batches/b1/cancel": false, "/openai/v1/batches": false,
		"/gemini/v1beta/models/m:batchGenerateContent": true, "/gemini/v1beta/models/m:predict": false} {
		g := start(t, options{doors: func(s *proxy.Settings) {
			for name, u := range s.Upstreams {
				u.AllowUninspected = []string{"/v1/batches/*", "/v1beta/models/*:batchGenerateContent"}
				s.Upstreams[name] = u
			}
		}})
		a := g.send("POST", path, []byte(`{}`))
		if (len(g.received()) == 1) != passes || (a.status == 403) == passes {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// What generates nothing passes unread, as long as uninspected is forward.
func TestSilentEndpoints(t *testing.T) {
	for _, c := range []struct{ method, path, upstream string }{
		{"GET", "/openai/v1/models", "/v1/models"}, {"GET", "/openai/v1/files/f1/content", "/v1/files/f1/content"}, {"POST", "/openai/v1/uploads/u1/parts", "/v1/uploads/u1/parts"},
		{"POST", "/openai/v1/moderations", "/v1/moderations"},
		{"GET", "/anthropic/v1/models/m", "/v1/models/m"}, {"POST", "/anthropic/v1/files", "/v1/files"},
		{"GET", "/gemini/v1beta/models", "/v1beta/models"}, {"GET", "/gemini/v1beta/models/m", "/v1beta/models/m"}, {"GET", "/v1beta/models?pageSize=5", "/v1beta/models?pageSize=5"},
		{"POST", "/gemini/upload/v1beta/files", "/upload/v1beta/files"}, {"GET", "/gemini/v1beta/files/f1", "/v1beta/files/f1"},
		{"GET", "/gemini/download/v1beta/files/f1:download", ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			g := start(t, options{})
			g.send(c.method, c.path, nil, "X-Api-Key", "sk-ant")
			saw := ""
			for _, r := range g.received() {
				saw += r.URL
			}
			if saw != c.upstream {
				t.Errorf("upstream saw %q", saw)
			}
			g = start(t, options{settings: func(s *checkpoint.Settings) { s.Uninspected = "refuse" }})
			if a := g.send(c.method, c.path, nil, "X-Api-Key", "sk-ant"); a.status != 403 || len(g.received()) > 0 {
				t.Errorf("refuse: %d", a.status)
			}
		})
	}
}

// An upload is larger than limits.body and passes as it is, while it arrives.
func TestMultipartUpload(t *testing.T) {
	for _, path := range []string{"/openai/v1/files", "/anthropic/v1/files", "/gemini/upload/v1beta/files"} {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		file, err := w.CreateFormFile("file", "large.bin")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(file, rand.Reader, 3<<20); err != nil { // limits.body of these tests is 1 MiB
			t.Fatal(err)
		}
		w.Close()
		var got []byte
		var kind string
		g := start(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind = r.Header.Get("Content-Type")
			got, _ = io.ReadAll(r.Body)
			io.WriteString(w, "{}")
		})})
		a := g.send("POST", path, form.Bytes(), "Content-Type", w.FormDataContentType(), "X-Api-Key", "sk-ant")
		if a.status != 200 || !bytes.Equal(got, form.Bytes()) || kind != w.FormDataContentType() {
			t.Errorf("%s: %d, %d of %d bytes as %s", path, a.status, len(got), form.Len(), kind)
		}
	}
}

// A count has no shape that could say a refusal: it is an error whatever on_block says, and leaves the session as it was.
func TestMeasuredEndpoints(t *testing.T) {
	gemini := func(text string) string { return `{"contents":[{"role":"user","parts":[{"text":"` + text + `"}]}]}` }
	messages := func(text string) string {
		return `{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`
	}
	for _, c := range []struct {
		path, answer string
		body         func(string) string
	}{
		{"/gemini/v1beta/models/m:countTokens", `"totalTokens"`, gemini},
		{"/gemini/v1beta/models/m:countTokens", `"totalTokens"`, func(s string) string { return `{"contents":[],"generateContentRequest":` + gemini(s) + `}` }},
		{"/gemini/v1beta/models/m:embedContent", `"embedding"`, func(s string) string { return `{"content":{"parts":[{"text":"` + s + `"}]}}` }},
		{"/v1beta/models/m:batchEmbedContents", `"embeddings"`, func(s string) string { return `{"requests":[{"content":{"parts":[{"text":"` + s + `"}]}}]}` }},
		{"/anthropic/v1/messages/count_tokens", `"input_tokens"`, messages},
		{"/v1/messages/count_tokens", `"input_tokens"`, messages},
	} {
		t.Run(c.path, func(t *testing.T) {
			g := start(t, options{})
			if a := g.send("POST", c.path, []byte(c.body("hello")), "X-Api-Key", "sk-ant"); a.status != 200 || !strings.Contains(a.body, c.answer) {
				t.Errorf("%d %s", a.status, a.body)
			}
			if n := len(g.received()); n != 1 {
				t.Fatalf("%d requests upstream", n)
			}
			if sent := string(g.received()[0].Body); sent != c.body("hello") {
				t.Errorf("upstream got %s", sent)
			}
			const session = "s-1"
			for range 2 {
				a := g.send("POST", c.path, []byte(c.body(attack)), "X-Api-Key", "sk-ant", "X-Mnemom-Session", session)
				if a.status != 403 || !strings.Contains(a.body, "safe_house_blocked") || a.verdict(t).Front != "enforced" || len(g.received()) != 1 {
					t.Errorf("%d %s", a.status, a.body)
				}
				if r := g.record(a); r.Status != 403 || r.Error != "safe_house_blocked" {
					t.Errorf("the record says %d %s", r.Status, r.Error)
				}
			}
		})
	}
}

// A text that was counted has not been decided: the turn that it comes in is told of it.
func TestCountingIsNoTurn(t *testing.T) {
	g := start(t, options{})
	body := doors[1].body(false, user("my key is "+secret))
	for range 2 {
		if a := g.send("POST", doors[1].path+"/count_tokens", body, "X-Api-Key", "sk-ant", "X-Mnemom-Session", "s"); a.status != 200 || a.verdict(t).Front != "observed" {
			t.Errorf("count: %d %s", a.status, a.header.Get("X-Mnemom-Verdict"))
		}
	}
	for _, want := range []string{"observed", "pass"} {
		a := g.send("POST", doors[1].path, body, "X-Api-Key", "sk-ant", "X-Mnemom-Session", "s")
		if got := string(a.verdict(t).Front); a.status != 200 || got != want {
			t.Errorf("turn: %d %s, want %s", a.status, got, want)
		}
	}
}

func TestGeminiCredentials(t *testing.T) {
	const path = "/gemini/v1beta/models/m:generateContent"
	body := []byte(`{"contents":[{"parts":[{"text":"hello"}]}]}`)
	held := func(s *proxy.Settings) {
		u := s.Upstreams["gemini"]
		u.Key = "held"
		s.Upstreams["gemini"] = u
	}
	cases := []struct {
		desc, path string
		headers    []string
		doors      func(*proxy.Settings)
		status     int
		url, key   string // as the upstream saw them
	}{
		{"the header", path, []string{"Authorization", "", "X-Goog-Api-Key", "AIza"}, nil, 200, "/v1beta/models/m:generateContent", "AIza"},
		{"the query", path + "?key=AIza&x=%2F", []string{"Authorization", ""}, nil, 200, "/v1beta/models/m:generateContent?key=AIza&x=%2F", ""},
		{"bearer", path, nil, nil, 200, "/v1beta/models/m:generateContent", ""},
		{"none", path, []string{"Authorization", ""}, nil, 401, "", ""},
		{"none, and the gateway's own", path, []string{"Authorization", ""}, held, 200, "/v1beta/models/m:generateContent", "held"},
		{"the header, and the gateway's own", path, []string{"X-Goog-Api-Key", "AIza"}, held, 200, "/v1beta/models/m:generateContent", "held"},
		{"the query, and the gateway's own", path + "?alt=json&key=AIza&k%65y=B&access_token=C", nil, held, 200, "/v1beta/models/m:generateContent?alt=json", "held"},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			g := start(t, options{doors: c.doors})
			a := g.send("POST", c.path, body, c.headers...)
			if a.status != c.status {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.status != 200 {
				return
			}
			saw := g.gemini.Requests()[0]
			if saw.URL != c.url || saw.Header.Get("X-Goog-Api-Key") != c.key || c.doors != nil && saw.Header.Get("Authorization") != "" {
				t.Errorf("upstream saw %s, %v", saw.URL, saw.Header)
			}
		})
	}
	g := start(t, options{})
	header := g.send("POST", path, body, "Authorization", "", "X-Goog-Api-Key", "AIza")
	query := g.send("POST", path+"?key=AIza", body, "Authorization", "")
	if a, b := header.header.Get("X-Mnemom-Agent"), query.header.Get("X-Mnemom-Agent"); a == "" || a != b {
		t.Errorf("one key, two agents: %s, %s", a, b)
	}
}

// An upgrade that the operator lists is carried in both directions; its headers have the surface.
func TestUpgrade(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-Websocket-Key") != "abc" || r.Header.Get("X-Mnemom-Session") != "" {
			http.Error(w, "not as it was sent", http.StatusBadRequest)
			return
		}
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-Websocket-Accept: xyz\r\nX-Mnemom-Verdict: forged\r\n\r\nhello ")
		io.Copy(conn, io.LimitReader(both, 5))
	})
	g := start(t, options{handler: echo, doors: func(s *proxy.Settings) {
		u := s.Upstreams["openai"]
		u.AllowUninspected = []string{"/v1/realtime"}
		s.Upstreams["openai"] = u
	}})
	r := httptest.NewRequest("GET", g.url+"/openai/v1/realtime?model=m", nil)
	r.RequestURI = ""
	for name, value := range map[string]string{"Authorization": "Bearer sk", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Key": "abc", "X-Mnemom-Session": "s"} {
		r.Header.Set(name, value)
	}
	res, err := g.client.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 101 || res.Header.Get("Sec-Websocket-Accept") != "xyz" || res.Header.Get("Upgrade") != "websocket" || len(res.Header.Values("X-Mnemom-Verdict")) != 1 {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	conn := res.Body.(*trailed).ReadCloser.(io.ReadWriteCloser)
	defer conn.Close()
	if _, err := io.WriteString(conn, "world"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello world" {
		t.Errorf("%q, %v", got, err)
	}
	records := g.records()
	if len(records) != 1 || records[0].Status != 101 || records[0].Session != "s" {
		t.Errorf("records: %+v", records)
	}
}
