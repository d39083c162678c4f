package fake

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Tools is the outside world of an agent: pages to read (GET /page/{name}) and a mail box to send from (POST /mail).
type Tools struct {
	Pages map[string]string // name → HTML; not to be changed once serving

	mu   sync.Mutex
	sent []Mail
}

// Mail is what was posted to /mail.
type Mail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// Sent are all mails so far, in order.
func (t *Tools) Sent() []Mail {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}

// ServeHTTP serves a page or takes a mail.
func (t *Tools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page/{name}", t.page)
	mux.HandleFunc("POST /mail", t.mail)
	mux.ServeHTTP(w, r)
}

func (t *Tools) page(w http.ResponseWriter, r *http.Request) {
	page, ok := t.Pages[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, page) // a client that has gone is the client's affair
}

func (t *Tools) mail(w http.ResponseWriter, r *http.Request) {
	var m Mail
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.To == "" {
		http.Error(w, "a mail is a JSON object with to, subject and body", http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	t.sent = append(t.sent, m)
	t.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]string{"status": "sent"})
}
