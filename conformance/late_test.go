package conformance_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// late takes up what a stream told at its end: in its trailers, and in comments before its terminal event, which must say the same.
// The comments are taken out of the body, so that it can be compared; formats whose clients choke on comments have none.
func (o *outcome) late(t *testing.T, trailer http.Header, comments bool) {
	t.Helper()
	if o.early = len(trailer) > 0; !o.early {
		return
	}
	if got := o.header.Get(verdict.AIPHeader); got != "pending" && got != "disabled" {
		t.Errorf("before the end, X-AIP-Verdict is %q", got)
	}
	var body []byte
	for line := range bytes.Lines(o.body) {
		told := false
		for _, name := range header.Late() {
			value, ok := bytes.CutPrefix(line, []byte(": "+name+": "))
			if told = told || ok; ok && string(bytes.TrimSpace(value)) != trailer.Get(name) {
				t.Errorf("the comment says %s, the trailer %q", line, trailer.Get(name))
			}
		}
		if !told {
			body = append(body, line...)
		}
	}
	if told := len(body) != len(o.body); !o.cut && told != comments {
		t.Errorf("comments tell of the verdicts: %v, want %v", told, comments)
	}
	o.body = body
	if o.cut {
		return
	}
	for name, values := range trailer {
		o.header[name] = values
	}
}
