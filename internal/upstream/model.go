package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Model is one model of a model server, asked by the gateway for itself. No checkpoint looks at what it is asked.
type Model struct {
	Client *Client
	Codec  wire.Codec // a [wire.Asker]
	URL    *url.URL   // base of the server
	Format string     // which slot the key goes into
	Key    string     // of the gateway; may be empty
	Name   string
	Limits Limits
}

// answerMost bounds an answer that was asked to be short, in bytes.
const answerMost = 256 << 10

// Complete is the text that the model answers, at temperature 0. Errors quote nothing of it.
func (m *Model) Complete(ctx context.Context, system, user string, most int) (string, error) {
	asker, ok := m.Codec.(wire.Asker)
	if !ok {
		return "", errors.New("the format has no requests of its own")
	}
	path, body := asker.Ask(wire.Question{Model: m.Name, System: system, User: user, Most: most})
	at := *m.URL
	at.Path, at.RawPath = strings.TrimRight(at.Path, "/"), ""
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String()+path, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("the address of the upstream cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	if m.Format == "anthropic" {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	if m.Key != "" {
		Authorize(r.Header, m.Format, m.Key)
	}
	limits := m.Limits
	limits.Body, limits.Buffer = answerMost, answerMost
	var said answer
	reply, err := m.Client.Send(ctx, r, limits, m.Codec, &said, nil)
	switch {
	case err != nil:
		return "", err
	case reply.Status/100 != 2:
		return "", fmt.Errorf("the upstream answers %d", reply.Status)
	}
	return said.text.String(), nil
}

// answer is a sink that keeps the text of the first choice alone.
type answer struct {
	text  strings.Builder
	texts []bool // of the parts: it is one
}

// Open implements [wire.Sink].
func (a *answer) Open(p gatehouse.Part) int {
	a.texts = append(a.texts, p.Kind == gatehouse.Text && p.Choice == 0)
	a.Text(len(a.texts)-1, p.Text)
	return len(a.texts) - 1
}

// Text implements [wire.Sink].
func (a *answer) Text(id int, delta string) {
	if a.texts[id] {
		a.text.WriteString(delta)
	}
}

// Close implements [wire.Sink].
func (*answer) Close(int) {}

// Unread implements [wire.Sink].
func (*answer) Unread(string) {}

// KeySlot is the header that a provider's clients put their keys into; empty for the usual one.
func KeySlot(format string) string {
	switch format {
	case "anthropic":
		return "X-Api-Key"
	case "gemini":
		return "X-Goog-Api-Key"
	}
	return ""
}

// Authorize puts a key into the provider's slot.
func Authorize(h http.Header, format, key string) {
	if name := KeySlot(format); name != "" {
		h.Set(name, key)
		return
	}
	h.Set("Authorization", "Bearer "+key)
}
