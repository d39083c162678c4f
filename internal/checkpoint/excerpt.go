package checkpoint

import (
	"context"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

const (
	maxExcerpt = 16 << 10 // bytes that are kept of a tainted result
	// marginExcerpt is how much is read on both sides of that: the half of a secret would not be known for one.
	marginExcerpt = 2 << 10
	maxHidden     = 64 // places of an excerpt that values can be found at again
)

// excerpt is a piece of a text without secrets and personal data.
type excerpt struct {
	Text   string   `json:"text"`
	At     int      `json:"at"` // offset of what it was taken out for
	Hidden []hidden `json:"hidden,omitempty"`
}

// hidden is a place of an excerpt from which something was taken out.
type hidden struct {
	At    int    `json:"at"`
	Value string `json:"value"` // keyed hash
}

// hiddenDigest is the hash that a value is found by where it was taken out, whatever its spacing and case.
func (l look) hiddenDigest(value string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, value)
	d := l.sessions.AnchorDigest(l.x.Session, "hidden", bare)
	return hex.EncodeToString(d[:])
}

// excerpt takes about size bytes around from..to out of a text; ok is false when they could not be scanned in time.
func (l look) excerpt(ctx context.Context, text string, from, to, size int) (e excerpt, ok bool) {
	begin, end := window(text, from, to, size)
	left, right := window(text, begin, end, end-begin+2*marginExcerpt)
	wide := text[left:right]
	r := l.scanner.Scan(ctx, detect.Text{Channel: detect.Output, Text: wide})
	if !r.Complete {
		return e, false
	}
	var private []gatehouse.Finding
	for _, f := range r.Findings {
		if f.Kind == "secret" || f.Kind == "pii" {
			private = append(private, f)
		}
	}
	edits := redact.Edits(wide, private, redact.Token)
	clean := gatehouse.Splice(wide, edits)
	start, stop := moved(edits, begin-left, false), moved(edits, end-left, true)
	e.Text = clean[start:stop]
	e.At = max(0, moved(edits, from-left, false)-start)
	for _, f := range private {
		if at := moved(edits, f.Start, false) - start; at >= 0 && at <= len(e.Text) && len(e.Hidden) < maxHidden {
			e.Hidden = append(e.Hidden, hidden{at, l.hiddenDigest(wide[f.Start:f.End])})
		}
	}
	return e, true
}

// moved is where an offset of a text lies after edits, which are sorted. What lies within one of them goes to its begin or its end.
func moved(edits []gatehouse.Edit, at int, toEnd bool) int {
	shift := 0
	for _, e := range edits {
		switch {
		case e.Start >= at:
			return at + shift
		case e.End > at && toEnd:
			return e.Start + shift + len(e.Text)
		case e.End > at:
			return e.Start + shift
		}
		shift += len(e.Text) - (e.End - e.Start)
	}
	return at + shift
}
