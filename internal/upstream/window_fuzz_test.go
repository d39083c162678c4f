package upstream_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// FuzzWindow: whatever a model streams, what is taken out of it does not leave in the window, and what leaves says the same as when all
// of it is held. An answer that would have to be taken back may end in an error instead.
func FuzzWindow(f *testing.F) {
	pieces, tools := []string{"a", "zz", "z b", "é", "zzz", "", "c"}, []string{"good", "bad", "good"}
	names := []string{"openai", "completions", "responses", "anthropic", "gemini", "gemini array"}
	for i, name := range names {
		f.Add(uint8(i), formats[name].write(pieces, tools), uint64(1))
		f.Add(uint8(i), formats[name].write(pieces, tools[:1]), uint64(2))
		f.Add(uint8(i), formats[name].write(nil, tools), uint64(3))
	}
	f.Add(uint8(2), strings.Replace(responding(pieces, nil), `"text":"azzz b"`, `"text":"azz"`, 1), uint64(4))
	f.Add(uint8(0), strings.ReplaceAll(chat(pieces, tools), `"index":1`, `"index":2`), uint64(5))
	f.Fuzz(func(t *testing.T, n uint8, stream string, seed uint64) {
		format := formats[names[int(n)%len(names)]]
		from := func() *answering { return &answering{stream, format.kind, rand.New(rand.NewPCG(seed, 1))} }
		held, heldErr := (&outlet{}).exchange(t.Context(), format.codec, from(), false)
		window, err := (&outlet{}).exchange(t.Context(), format.codec, from(), true)
		if err != nil || heldErr != nil {
			return
		}
		want, _, err := tryRead(format.codec, held, format.kind)
		if err != nil {
			return // a stream that was cut within an event
		}
		got, _, err := tryRead(format.codec, window, format.kind)
		if err != nil {
			t.Fatalf("%v in %s", err, window)
		}
		clean := true
		came, _, _ := tryRead(format.codec, stream, format.kind) //nolint:errcheck // it was read above
		for _, p := range came.parts {
			clean = clean && p.Tool != "bad" && (p.Kind != gatehouse.Text || !strings.Contains(p.Text, "z"))
		}
		if clean && window != stream && held == stream {
			t.Fatalf("a clean stream became %q", window)
		}
		for _, p := range got.parts {
			if p.Kind == gatehouse.Text && strings.Contains(p.Text, "z") || p.Kind == gatehouse.ToolCall && p.Tool == "bad" {
				t.Fatalf("%s %q is left in %q", p.Kind, p.Text, window)
			}
		}
		text, calls := want.said()
		if gotText, gotCalls := got.said(); gotText != text || gotCalls != calls {
			t.Fatalf("got  %q %q in %q\nwant %q %q in %q", gotText, gotCalls, window, text, calls, held)
		}
	})
}
