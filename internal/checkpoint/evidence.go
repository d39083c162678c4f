package checkpoint

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// maxQuote bounds what a human is shown of a result, in bytes.
const maxQuote = 400

// evidence is the tool's result that a call was judged by, with what stands there around the value of the argument; nil when it was
// judged by no result, or that is not known any more. The quote is empty where no text is kept.
func (l look) evidence(ctx context.Context, j policy.Judgement) *approval.Evidence {
	o := j.Origin
	if o.Source != policy.ToolResult || o.At == 0 {
		return nil
	}
	out := &approval.Evidence{Argument: j.Argument, Tool: clip(o.Tool)}
	if o.At < 0 {
		p := l.x.Part(-1 - o.At)
		if p == nil {
			return nil
		}
		out.CallID = clip(p.CallID)
		from, to, ok := provenance.Place(p.Original(), j.Value)
		if !ok {
			from, to = l.injection(p)
		}
		if e, ok := l.excerpt(ctx, p.Original(), from, to, 2*maxQuote); ok {
			out.Quote = l.quote(e, j.Value)
		}
		return out
	}
	t, ok, err := l.sessions.Store.Said(ctx, l.x.Agent, l.x.Session, int64(o.At))
	if err != nil || !ok {
		return out // the human learns less, and decides all the same
	}
	out.CallID = t.CallID
	if e, ok := l.opened(t); ok {
		out.Quote = l.quote(e, j.Value)
	}
	return out
}

// injection is where the worst injection of a part stands.
func (l look) injection(p *gatehouse.Part) (start, end int) {
	worst := gatehouse.Finding{}
	for _, f := range seen(l.x) {
		if f.Part == p.ID && f.Score > worst.Score && f.Start >= 0 && f.Start <= f.End && f.End <= len(p.Original()) {
			worst = f
		}
	}
	return worst.Start, worst.End
}

// sealedExcerpt is what is kept of a tainted result around its injection; nil where nothing may be.
func (l look) sealedExcerpt(ctx context.Context, p *gatehouse.Part, text session.Digest) []byte {
	if l.sessions.Box == nil {
		return nil
	}
	from, to := l.injection(p)
	e, ok := l.excerpt(ctx, p.Original(), from, to, maxExcerpt)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return l.sessions.Box.Seal(raw, l.excerptOwner(text))
}

func (l look) opened(t session.Said) (e excerpt, ok bool) {
	if l.sessions.Box == nil || t.Excerpt == nil {
		return e, false
	}
	raw, err := l.sessions.Box.Open(t.Excerpt, l.excerptOwner(t.Text))
	return e, err == nil && json.Unmarshal(raw, &e) == nil
}

func (l look) excerptOwner(text session.Digest) string {
	return "said " + l.x.Agent + " " + l.x.Session + " " + hex.EncodeToString(text[:])
}

// quote is what stands around a value in an excerpt; around the injection when the value is not found there.
func (l look) quote(e excerpt, value string) string {
	start, end, ok := provenance.Place(e.Text, value)
	if !ok {
		start, end, ok = l.hidden(e, value)
	}
	if !ok {
		start = min(max(e.At, 0), len(e.Text))
		end = start
	}
	return plainQuote(around(e.Text, start, end, maxQuote))
}

// hidden is where the value stood before it was taken out.
func (l look) hidden(e excerpt, value string) (start, end int, ok bool) {
	for _, one := range append(provenance.Identifiers(value), value) {
		d := l.hiddenDigest(one)
		for _, h := range e.Hidden {
			if h.Value == d && h.At >= 0 && h.At <= len(e.Text) {
				return h.At, h.At, true
			}
		}
	}
	return 0, 0, false
}

// around is a text from start to end and what fits into size bytes on both sides of it, with an ellipsis where it is cut.
func around(text string, start, end, size int) string {
	const ellipsis = "…"
	if len(text) <= size {
		return text
	}
	size -= 2 * len(ellipsis)
	start, end = window(text, start, end, size)
	out := text[start:end]
	if start > 0 {
		out = ellipsis + out
	}
	if end < len(text) {
		out += ellipsis
	}
	return out
}

// window are at most size bytes of a text around start..end, on whole runes.
func window(text string, start, end, size int) (from, to int) {
	end = min(end, start+size)
	from = max(0, start-(size-(end-start))/2)
	to = min(len(text), from+size)
	from = max(0, to-size)
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return from, to
}

// plainQuote is a text without what would change how the rest of it looks.
func plainQuote(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}
