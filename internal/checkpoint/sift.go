package checkpoint

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

// sieves is a [Scanner] that can look at a text while it grows; *detect.Set is one.
type sieves interface {
	Sieve(eager bool, found func([]gatehouse.Finding)) *detect.Sieve
}

// sifted is what shall go from a part, and the edits by which it goes.
type sifted struct {
	findings []gatehouse.Finding
	edits    []gatehouse.Edit
}

// sifting is one text of a response on its way through a sieve. What it takes out is the same whether the text is there at once or
// grows, so that a stream is answered as an answer in one piece.
type sifting struct {
	sifted
	sieve *detect.Sieve
	part  int
	free  int // what has been said to be free
}

// sifting begins with an empty text; nil where the scanner has no sieve.
func (s *Settings) sifting(scanner Scanner, part int) *sifting {
	set, ok := scanner.(sieves)
	if !ok {
		return nil
	}
	t := &sifting{part: part}
	t.sieve = set.Sieve(s.eager(), func(list []gatehouse.Finding) {
		for i := range list {
			list[i].Part = part
		}
		list = slices.DeleteFunc(list, func(f gatehouse.Finding) bool { return s.private(f) != "redact" })
		t.findings = append(t.findings, list...)
		t.edits = append(t.edits, redact.Spans(list, redact.Token)...)
	})
	if t.sieve == nil {
		return nil
	}
	return t
}

// eager reports whether the first letters of a text may leave before its first word is complete: nothing is taken out that
// begins with letters, but for secrets, whose beginnings are known.
func (s *Settings) eager() bool {
	for class, action := range s.PII {
		if action == "redact" && class != "card" && class != "ssn" {
			return false
		}
	}
	return true
}

// grow takes more of the text, and returns how much of it nothing will change but the edits.
func (t *sifting) grow(ctx context.Context, delta string) (free int, edits []gatehouse.Edit) {
	t.sieve.Write(ctx, delta)
	free, edits = t.sieve.Decided(), t.edits
	if t.sieve.JSON() && len(edits) > 0 {
		// What stands in the place of what, in JSON, is known when the document is complete.
		free, edits = min(free, edits[0].Start-escapeMost), nil
	}
	t.free = max(t.free, free)
	return t.free, edits
}

// escapeMost is the longest escape in JSON, in bytes: an edit begins as much before what was found.
const escapeMost = 16

// end says that the text is complete.
func (t *sifting) end(ctx context.Context, text string) (complete bool) {
	complete = t.sieve.Close(ctx)
	if t.sieve.JSON() && len(t.findings) > 0 {
		t.edits = redact.Edits(text, t.findings, redact.Token)
	}
	return complete
}

// sift takes out of a text what the sieve finds, and what else was found when all of it was looked at at once, as far as it has
// not left. What has left is told.
func (l look) sift(ctx context.Context, o *opinion, p *gatehouse.Part, findings []gatehouse.Finding, r detect.Result) (sifted, error) {
	t := l.follower.sifting(p)
	if t == nil {
		if t = l.s.sifting(l.scanner, p.ID); t == nil {
			return sifted{findings, redact.Edits(p.Text, findings, redact.Token)}, nil
		}
		if t.sieve.WriteWhole(ctx, p.Text, r); !t.end(ctx, p.Text) {
			return sifted{}, errUnscanned(p)
		}
	}
	var more []gatehouse.Finding
	for _, f := range findings {
		if t.touches(f) {
			continue
		}
		if f.Start < t.free {
			o.late(f, p)
			f.Start = t.free
		}
		if f.Start < f.End {
			more = append(more, f)
		}
	}
	if len(more) == 0 {
		return t.sifted, nil
	}
	out := sifted{findings: append(slices.Clone(t.findings), more...)}
	if t.sieve.JSON() {
		out.edits = redact.Edits(p.Text, out.findings, redact.Token)
		return out, nil
	}
	out.edits = append(slices.Clone(t.edits), redact.Edits(p.Text, more, redact.Token)...)
	slices.SortFunc(out.edits, func(a, b gatehouse.Edit) int { return cmp.Compare(a.Start, b.Start) })
	return out, nil
}

// touches reports whether one of the edits takes something of a finding out.
func (t *sifting) touches(f gatehouse.Finding) bool {
	i := sort.Search(len(t.edits), func(i int) bool { return t.edits[i].End > f.Start })
	return i < len(t.edits) && t.edits[i].Start < f.End
}

// late tells of what was only seen for what it is when it had left: what gave it away came long behind it.
func (o *opinion) late(f gatehouse.Finding, p *gatehouse.Part) {
	o.reported(f, p)
	o.advise("safe_house.dlp", gatehouse.Critical, found(f, p), "it had left when it was seen")
}
