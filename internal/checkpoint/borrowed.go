package checkpoint

import (
	"context"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	// minCopy is the length, in bytes, from which a text that holds an injected span holds a copy of it.
	minCopy = 24
	// minBorrowed and maxBorrowed bound an argument that is looked for in injected spans, in bytes.
	minBorrowed, maxBorrowed = 3, 200
	// wideBorrowed is the length from which an argument of several words is nobody's coincidence.
	wideBorrowed = 8
	// manyBorrowed is how many short arguments are none either.
	manyBorrowed = 3
)

// spans are the injected texts of this exchange, lower-case, and everything else that was said in it.
func (l look) spans() (injected []string, rest []string) {
	findings := seen(l.x)
	if len(findings) == 0 {
		return nil, nil
	}
	for i := range l.x.Request {
		p := &l.x.Request[i]
		text := p.Original()
		mine := l.injected(p, findings)
		for _, f := range mine {
			injected = append(injected, lowered(readable(text, text[f.Start:f.End])))
		}
		rest = append(rest, lowered(readable(text, without(text, mine))))
	}
	return injected, rest
}

// copied reports whether what stands at start..end of a text belongs to a copy of an injected span.
func copied(text string, injected []string, start, end int) bool {
	for _, span := range injected {
		if len(span) < minCopy {
			continue
		}
		from := max(0, end-len(span))
		if i := strings.Index(text[from:min(len(text), start+len(span))], span); i >= 0 {
			return true
		}
	}
	return false
}

// borrowed looks for arguments of calls that stand in an injected span and nowhere else in the conversation: names, dates
// and amounts, which are no anchors.
func (l look) borrowed(ctx context.Context, o *opinion, texts []utterance, injected, rest []string) error {
	count := map[int]int{}
	for _, t := range texts {
		value := strings.TrimSpace(t.text)
		if t.part.Kind != gatehouse.ToolCall || t.name || len(value) < minBorrowed || len(value) > maxBorrowed || setsAside(value) ||
			!anyWord(injected, value) || anyWord(rest, value) {
			continue
		}
		if ctx.Err() != nil {
			return errUnscanned(t.part)
		}
		count[t.part.ID]++
		score := scoreWeak
		if wide := len(value) >= wideBorrowed && strings.Contains(value, " "); (wide || count[t.part.ID] >= manyBorrowed) && !examines.MatchString(lowered(t.part.Tool)) {
			score = scoreStated
		}
		o.complied(t, sighting{}, "borrowed-argument", score)
	}
	return nil
}

func anyWord(texts []string, word string) bool {
	for _, text := range texts {
		if wordIn(text, word) {
			return true
		}
	}
	return false
}
