package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// format is what one provider does in its own way.
type format interface {
	authorized(h http.Header) bool
	lacks(body map[string]any) string // what is wrong with a request; empty: nothing
	request(body map[string]any) Request
	answer(req Request, turn Turn, id int) any                   // the unstreamed body
	events(req Request, turn Turn, id int, send func(any) error) // the streamed one
	streams() string                                             // the Content-Type of that
	failure(status int, message string, id int) any
	headers(id int) http.Header
	models() any
}

const eventStream = "text/event-stream; charset=utf-8"

// provider is what the model servers have in common.
type provider struct {
	recorder
}

// serve answers at two paths: where models are listed, and where one generates.
func (p *provider) serve(w http.ResponseWriter, r *http.Request, f format, script Script, models, path string) {
	id := p.next()
	for name, values := range f.headers(id) {
		w.Header()[name] = values
	}
	if err := p.record(r); err != nil {
		return // the client has gone
	}
	fail := func(status int, message string) { writeJSON(w, status, f.failure(status, message, id)) }
	switch {
	case !f.authorized(r.Header):
		fail(http.StatusUnauthorized, "You didn't provide an API key.")
	case r.URL.Path == models && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, f.models())
	case r.URL.Path != path:
		fail(http.StatusNotFound, "Not found")
	case r.Method != http.MethodPost:
		fail(http.StatusMethodNotAllowed, "Method not allowed")
	default:
		p.generate(w, r, f, script, id)
	}
}

func (p *provider) generate(w http.ResponseWriter, r *http.Request, f format, script Script, id int) {
	raw, _ := io.ReadAll(r.Body) // in memory since record
	body, err := decode(raw)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, f.failure(http.StatusBadRequest, "We could not parse the JSON body of your request.", id))
		return
	}
	if wrong := f.lacks(body); wrong != "" {
		writeJSON(w, http.StatusBadRequest, f.failure(http.StatusBadRequest, wrong, id))
		return
	}
	req := f.request(body)
	req.Header, req.Body, req.Raw = r.Header.Clone(), body, raw
	if script == nil {
		script = Echo
	}
	turn := script(req)
	select {
	case <-time.After(turn.Delay):
	case <-r.Context().Done():
		return
	}
	for name, values := range turn.Header {
		w.Header()[name] = values
	}
	if turn.DropAfter != 0 {
		w = &cut{ResponseWriter: w, left: max(0, turn.DropAfter)}
	}
	write(w, f, req, turn, id)
}

// lacksMessages is what is wrong with a request for a chat.
func lacksMessages(body map[string]any) string {
	if _, ok := body["messages"].([]any); !ok {
		return "messages: Field required"
	}
	return ""
}

func write(w http.ResponseWriter, f format, req Request, turn Turn, id int) {
	status := turn.Status
	if status == 0 {
		status = http.StatusOK
	}
	stream := req.Stream && status < http.StatusBadRequest
	if stream && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", f.streams())
	}
	switch {
	case turn.Raw != nil:
		writeBytes(w, status, turn.Raw)
	case status >= http.StatusBadRequest:
		writeJSON(w, status, f.failure(status, turn.Error, id))
	case stream:
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(status)
		f.events(req, turn, id, func(event any) error { return sendEvent(w, event) })
	default:
		writeJSON(w, status, f.answer(req, turn, id))
	}
}

// event is a server-sent event with a name; without one it is sent as data alone.
type event struct {
	name string
	data any // a string goes out as it is, anything else as JSON
}

func sendEvent(w http.ResponseWriter, e any) error {
	if one, ok := e.(element); ok {
		if _, err := w.Write(one.bytes()); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	named, ok := e.(event)
	if !ok {
		named = event{data: e}
	}
	data, ok := named.data.(string)
	if !ok {
		data = string(marshal(named.data))
	}
	if named.name != "" {
		data = "event: " + named.name + "\ndata: " + data + "\n\n"
	} else {
		data = "data: " + data + "\n\n"
	}
	if _, err := io.WriteString(w, data); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	writeBytes(w, status, marshal(body))
}

func writeBytes(w http.ResponseWriter, status int, body []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is the client's affair
}

// marshal is compact JSON without HTML escapes, as the providers send it.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("fake: encode %T: %v", v, err)) // only our own shapes come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func decode(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var body map[string]any
	err := dec.Decode(&body)
	return body, err
}
