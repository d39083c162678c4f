package anthropic

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// nothing is a sink of which the test wants nothing.
type nothing struct{}

func (nothing) Open(gatehouse.Part) int { return 0 }
func (nothing) Text(int, string)        {}
func (nothing) Close(int)               {}
func (nothing) Unread(string)           {}

// delta is a step that looks for what is unread of an ordinary delta.
func delta(t testing.TB) (step func()) {
	const data = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, you"}}`
	s, e := newStream(nothing{}), &event{kind: "content_block_delta"}
	s.read.doc = []byte(data)
	root, err := wire.ParseObject(s.read.doc, wire.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		s.unread(e, root)
		s.deltaUnread("text_delta", root.Get("delta"))
	}
}

func TestAnOrdinaryDeltaCostsNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, delta(t)); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUnread(b *testing.B) {
	step := delta(b)
	b.ReportAllocs()
	for range b.N {
		step()
	}
}
