// Package wiretest is what the fuzz tests of several codecs do with what was read: they change it, write it, and read it again.
package wiretest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Pick chooses one of the parts that fit; ok is false when none does.
func Pick(parts []gatehouse.Part, n uint8, fits func(p gatehouse.Part) bool) (i int, ok bool) {
	var fit []int
	for i, p := range parts {
		if fits(p) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return 0, false
	}
	return fit[int(n)%len(fit)], true
}

// Call reports whether a part is a call.
func Call(p gatehouse.Part) bool { return p.Kind == gatehouse.ToolCall }

// Other is a text that is certainly not the old one, and not empty.
func Other(old, text string) string {
	if text = strings.ToValidUTF8(text, ""); text == "" || text == old {
		return old + "x"
	}
	return text
}

// Reread writes a document for these parts and gives what read makes of it. What it writes must be JSON.
func Reread(t *testing.T, doc interface {
	Bytes(parts []gatehouse.Part) ([]byte, error)
}, parts []gatehouse.Part, read func(body []byte) ([]gatehouse.Part, error)) []gatehouse.Part {
	t.Helper()
	out, err := doc.Bytes(parts)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out) {
		t.Fatalf("not JSON: %s", out)
	}
	again, err := read(out)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return again
}

// Request reads requests with a codec.
func Request(codec wire.Codec) func(body []byte) ([]gatehouse.Part, error) {
	return func(body []byte) ([]gatehouse.Part, error) {
		r, err := codec.Request(body)
		if err != nil {
			return nil, err
		}
		return r.Parts(), nil
	}
}

// Response reads answers with a codec.
func Response(codec wire.Codec) func(body []byte) ([]gatehouse.Part, error) {
	return func(body []byte) ([]gatehouse.Part, error) {
		var to sink
		_, err := codec.Response(body, &to)
		return to, err
	}
}

// sink is the parts of an answer.
type sink []gatehouse.Part

// Open implements [wire.Sink].
func (s *sink) Open(p gatehouse.Part) int {
	*s = append(*s, p)
	return len(*s) - 1
}

// Text implements [wire.Sink].
func (s *sink) Text(id int, delta string) { (*s)[id].Text += delta }

// Close implements [wire.Sink].
func (*sink) Close(int) {}

// Unread implements [wire.Sink].
func (*sink) Unread(string) {}
