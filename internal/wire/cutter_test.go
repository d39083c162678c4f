package wire

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// However a text comes, and however soon its replacements are known, what is cut is what it had become in one piece.
func FuzzCutter(f *testing.F) {
	f.Add("my key is secret, and yours is hidden", []byte{10, 6, 1, 14, 6, 2}, []byte{3, 9, 1, 1, 30})
	f.Add("", []byte{0, 0, 3}, []byte{1})
	f.Fuzz(func(t *testing.T, text string, spans, borders []byte) {
		edits := replacements(text, spans)
		want := gatehouse.Splice(text, edits)
		for _, late := range []bool{false, true} {
			if got := cutUp(t, text, borders, edits, late); got != want {
				t.Fatalf("late %v: %q in pieces %v with %+v became %q, want %q", late, text, borders, edits, got, want)
			}
		}
	})
}

// replacements reads replacements, in order and without overlaps, from triples: how far away, how long, and how long what stands
// there afterwards.
func replacements(text string, spans []byte) (edits []gatehouse.Edit) {
	at := 0
	for ; len(spans) >= 3; spans = spans[3:] {
		start := at + int(spans[0])
		end := start + int(spans[1])
		if end > len(text) || end == start { // every one that is made replaces something
			break
		}
		edits = append(edits, gatehouse.Edit{Op: gatehouse.Replace, Start: start, End: end, Text: strings.Repeat("*", int(spans[2]%4))})
		at = end
	}
	return edits
}

// cutUp cuts a text that comes in pieces. late says that a replacement is known no sooner than its first byte comes.
func cutUp(t *testing.T, text string, borders []byte, edits []gatehouse.Edit, late bool) string {
	t.Helper()
	var c Cutter
	var out strings.Builder
	for at := 0; at < len(text); {
		end := len(text)
		if len(borders) > 0 {
			end, borders = min(end, at+1+int(borders[0])), borders[1:]
		}
		known := edits
		if late {
			known = nil
			for _, e := range edits {
				if e.Start < end {
					known = append(known, e)
				}
			}
		}
		piece, err := c.Cut(text[at:end], known)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(piece)
		at = end
	}
	return out.String() + c.Rest(edits)
}
