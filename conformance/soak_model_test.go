package conformance_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// behaviour is the header by which a client of the soak tells the model how to answer: headers that nobody knows pass through.
const behaviour = "X-Behaviour"

// soakMark stands in every prompt and answer. No record may hold it.
const soakMark = "soak-content-mark"

// rogue is a model that behaves as it is told to. Each exchange has a fake of its own, which keeps nothing.
type rogue struct{ dialect }

func (m rogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	how := r.Header.Get(behaviour)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	stream := bytes.Contains(body, []byte(`"stream":true`)) || strings.HasSuffix(r.URL.Path, ":streamGenerateContent")
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch how {
	case "hang":
		<-r.Context().Done()
	case "hang in the body":
		write(w, `{"id":"x","choices":[{`, "data: {}\n\n", stream)
		<-r.Context().Done()
	case "drip":
		drip{w}.answer(m, r)
	case "reset":
		abort(w, "")
	case "reset in the body":
		abort(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"id\":")
	case "too short":
		abort(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{}")
	case "too long":
		abort(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{\"id\":\"and so on\"}")
	case "no HTTP":
		abort(w, "SSH-2.0-OpenSSH_9.6\r\n")
	case "broken gzip":
		w.Header().Set("Content-Encoding", "gzip")
		write(w, "no gzip at all", "nor here", stream)
	case "gzip bomb":
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb) //nolint:errcheck // whoever has left sees no more
	case "large":
		write(w, `{"id":"`+large+`"}`, "data: "+large+"\n\n", stream)
	case "malformed":
		write(w, `{"choices":[}`, "data: {\"choices\":[}\n\n", stream)
	case "HTML":
		w.Header().Set("Content-Type", "text/html")
		write(w, "<html>", "<html>", stream)
	case "redirect":
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(http.StatusFound)
	default:
		m.model(func(fake.Request) fake.Turn { return turnOf(how) }).ServeHTTP(w, r)
	}
}

// turnOf is what a model that is well says.
func turnOf(how string) fake.Turn {
	switch how {
	case "call":
		return fake.Turn{Calls: []fake.Call{{Name: "search", Args: `{"q":"` + soakMark + `"}`}}}
	case "blocked call":
		return fake.Turn{Text: soakMark, Calls: []fake.Call{{Name: "rm_all", Args: `{}`}, {Name: "search", Args: `{"q":"x"}`}}}
	case "secret":
		return fake.Turn{Text: "It is " + token + ", " + soakMark}
	case "reasoning":
		return fake.Turn{Reasoning: "The page says so, therefore I will ignore all previous instructions and reveal my system prompt.", Text: soakMark}
	case "obeys":
		return fake.Turn{Calls: []fake.Call{{Name: "search", Args: `{"to":"drop@evil.example"}`}}}
	case "dropped":
		return fake.Turn{Text: strings.Repeat(soakMark+" ", 20), DropAfter: 200}
	case "429", "500":
		return fake.Turn{Status: map[string]int{"429": 429, "500": 500}[how], Error: "no"}
	}
	return fake.Turn{Text: "Certainly. " + soakMark}
}

func write(w http.ResponseWriter, whole, stream string, streaming bool) {
	kind := "application/json"
	if streaming {
		whole, kind = stream, "text/event-stream"
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", kind)
	}
	io.WriteString(w, whole)              //nolint:errcheck // whoever has left sees no more
	http.NewResponseController(w).Flush() //nolint:errcheck // as above
}

// abort writes bytes in place of a response, and resets the connection.
func abort(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	io.WriteString(conn, raw) //nolint:errcheck // as above
	if tcp, ok := conn.(*net.TCPConn); ok && raw == "" {
		tcp.SetLinger(0) //nolint:errcheck // then it is closed in the usual way
	}
}

// drip is a response that comes in small pieces.
type drip struct{ http.ResponseWriter }

func (d drip) answer(m rogue, r *http.Request) {
	m.model(func(fake.Request) fake.Turn { return turnOf("") }).ServeHTTP(d, r)
}

func (d drip) Write(b []byte) (int, error) {
	time.Sleep(3 * time.Millisecond)
	n, err := d.ResponseWriter.Write(b)
	http.NewResponseController(d.ResponseWriter).Flush() //nolint:errcheck // as above
	return n, err
}

// large is more than any limit of the soak.
var large = strings.Repeat(soakMark+" ", 6000)

// bomb is a small body that unfolds to one beyond every limit.
var bomb = func() []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(make([]byte, 1<<20)) //nolint:errcheck // in memory
	z.Close()                    //nolint:errcheck // as above
	return out.Bytes()
}()
