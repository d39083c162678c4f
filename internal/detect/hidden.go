package detect

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
)

// hidden finds text that people do not see and models read: Unicode tag characters, which spell ASCII, and zero-width
// characters in numbers that no script needs.
type hidden struct{}

func (hidden) Name() string { return "hidden" }

const (
	// insideLimit is how many zero-width characters between ASCII letters are more than a stray one.
	insideLimit = 6
	// insideGap is how far apart, in bytes, such characters may stand and still belong together.
	insideGap = 64
	// runLimit is the length of a run of zero-width characters that can carry a message in binary.
	runLimit = 16
)

func (hidden) Detect(_ context.Context, t Text, n *Normalized) []gatehouse.Finding {
	var all []gatehouse.Finding
	add := func(rule string, score float64, s span) {
		all = append(all, gatehouse.Finding{
			Kind: "injection", Type: "hidden_instruction", Detector: "hidden/" + rule,
			Score: score, Severity: severity(score), Start: s.start, End: s.end,
		})
	}
	if t.Channel == Output {
		return nil
	}
	for _, s := range n.tags {
		add("tag-characters", 0.97, s)
	}
	for _, s := range n.longRuns {
		add("zero-width-run", 0.85, s)
	}
	for i := 0; i < len(n.inside); {
		j := i + 1
		for j < len(n.inside) && n.inside[j]-n.inside[j-1] <= insideGap {
			j++
		}
		if j-i >= insideLimit {
			add("zero-width-letters", 0.7, n.sentence(span{n.inside[i], n.inside[j-1] + 1}, false))
		}
		i = j
	}
	return all
}

func severity(score float64) gatehouse.Severity {
	if score >= 0.8 {
		return gatehouse.Critical
	}
	return gatehouse.Warn
}

// invisible reports whether a rune shows nothing: zero-width, bidirectional controls, soft hyphen, variation selectors.
func invisible(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x115F, r == 0x1160, r >= 0x180B && r <= 0x180F, r == 0x3164, r == 0xFEFF, r == 0xFFA0:
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xFFF9 && r <= 0xFFFB, r >= 0x1D173 && r <= 0x1D17A, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	return false
}

// run is an unbroken run of invisible characters in the original.
type run struct {
	span
	count int
}

// unseen passes over one invisible character.
func (w *writer) unseen(size int) {
	if w.run.count == 0 || w.run.end != w.at {
		w.endRun()
		w.run = run{span: span{w.at, w.at}}
	}
	w.skip(size)
	w.run.end = w.at
	w.run.count++
}

// endRun notes the last run of invisible characters where it is more than typography.
func (w *writer) endRun() {
	text, r := w.n.Original, w.run
	if r.count >= runLimit {
		w.n.longRuns = append(w.n.longRuns, r.span)
	}
	if r.count > 0 && r.start > 0 && r.end < len(text) && letter(text[r.start-1]) && letter(text[r.end]) {
		w.n.inside = append(w.n.inside, r.start)
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

const (
	blackFlag = 0x1F3F4
	// tagGap is how far apart, in bytes, tag characters may stand and still be one message.
	tagGap = 8
)

// tag decodes one tag character to the ASCII that it spells. Behind a black flag such characters are the flag of a region,
// an emoji like any other.
func (w *writer) tag(r rune, size int) {
	c := byte(r - 0xE0000) //nolint:gosec // below 0x80
	k := len(w.n.tags)
	if !w.flag && k > 0 && w.at-w.n.tags[k-1].end <= tagGap {
		w.n.tags[k-1].end = w.at + size
	} else {
		w.flag = w.last == blackFlag || w.flag && w.last >= 0xE0000 && w.last < 0xE007F
		if !w.flag {
			w.n.tags = append(w.n.tags, span{w.at, w.at + size})
		}
	}
	switch {
	case w.flag || c < 0x20 || c == 0x7F:
		w.skip(size)
	case c == ' ':
		w.space(false, size)
	case c >= 'A' && c <= 'Z':
		w.solid(size, string(rune(c|0x20)))
	default:
		w.solid(size, string(rune(c)))
	}
}
