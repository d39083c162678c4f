package conformance_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// check looks at what the client got, and at what reached the model.
func (b *fortress) check(t *testing.T, c *hostileCase, s target, w hostileWant, r heard, sent string) {
	t.Helper()
	same(t, "status", r.status, w.Status)
	same(t, "the answer breaks off", r.cut, w.Cut)
	same(t, "status of another answer", r.then, w.Then)
	var head bytes.Buffer
	r.header.Write(&head) //nolint:errcheck // in memory
	holds(t, "the answer", head.String()+string(r.body), w.Said)
	if r.status != 0 && !w.Bare {
		b.checkSurface(t, s, w, r)
	}
	got := b.model.arrived()
	if called := len(got) > 0; called != w.Called || len(got) > 1 {
		t.Errorf("%d requests reached the model, called: %v", len(got), w.Called)
	}
	for _, a := range got {
		holds(t, "what reached the model", string(a.head)+"\n"+string(a.body), w.Sent)
		if w.Unchanged {
			same(t, "the body that reached the model", string(a.body), sent)
		}
		for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Encoding"} {
			if v := a.header.Values(name); v != nil {
				t.Errorf("%s: %q reached the model", name, v)
			}
		}
		for name := range a.header {
			if plain := strings.ReplaceAll(strings.ToLower(name), "_", "-"); !header.Known(name) || strings.Contains(plain, "mnemom") || strings.Contains(plain, "x-aip") {
				t.Errorf("%s reached the model", name)
			}
		}
	}
}

// checkSurface looks at the header surface, and at the error's shape.
func (b *fortress) checkSurface(t *testing.T, s target, w hostileWant, r heard) {
	t.Helper()
	for name := range r.header {
		if !header.Known(name) {
			t.Errorf("retired or unknown header %s", name)
		}
	}
	if id := r.header.Values("X-Mnemom-Request-Id"); len(id) != 1 || !uuid4.MatchString(id[0]) {
		t.Errorf("X-Mnemom-Request-Id: %q", id)
	}
	if v := r.header.Values(verdict.Header); len(v) != 1 {
		t.Errorf("%s: %q", verdict.Header, v)
	} else {
		same(t, verdict.Header, v[0], w.Verdict)
	}
	code := s.code
	if w.Native {
		code = openAI{}.code
	}
	if r.status >= http.StatusBadRequest && !w.Cut {
		same(t, "error", code(r.body), w.Error)
	}
}

func (b *fortress) records(t *testing.T, head audit.Head) []audit.Record {
	t.Helper()
	var out []audit.Record
	for _, list := range since(t, b.db, head) {
		out = append(out, list...)
	}
	return out
}

// checkRecords wants one record, which says what the client was told.
func (b *fortress) checkRecords(t *testing.T, s target, w hostileWant, r heard, records []audit.Record) {
	t.Helper()
	wanted := 1
	if w.Bare || s.silent && w.Status == http.StatusOK {
		wanted = 0
	}
	if len(records) != wanted {
		t.Errorf("%d records, want %d", len(records), wanted)
	}
	for _, rec := range records {
		same(t, "recorded error", rec.Error, w.Recorded)
		same(t, "recorded status", rec.Status, w.Stored)
		if r.status != 0 {
			same(t, "recorded id", rec.ID, r.header.Get("X-Mnemom-Request-Id"))
		}
	}
}
