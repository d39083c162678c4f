package checkpoint

import (
	"context"
	"index/suffixarray"
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
	findings := seenBy(l.x)
	if !l.anyInjected(findings) {
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

// originals are the injected spans that a text may hold a copy of, by how they begin.
type originals struct {
	begin   map[string][]string
	longest int
}

func newOriginals(injected []string) *originals {
	o := &originals{begin: map[string][]string{}}
	have := map[string]bool{}
	for _, span := range injected {
		if len(span) >= minCopy && !have[span] {
			have[span] = true
			o.begin[span[:minCopy]] = append(o.begin[span[:minCopy]], span)
			o.longest = max(o.longest, len(span))
		}
	}
	return o
}

// copied reports whether what stands at start..end of a text belongs to a copy of an injected span.
func (o *originals) copied(text string, start, end int) bool {
	for i := max(0, end-o.longest); i <= start && i+minCopy <= len(text); i++ {
		for _, span := range o.begin[text[i:i+minCopy]] {
			if i+len(span) >= end && strings.HasPrefix(text[i:], span) {
				return true
			}
		}
	}
	return false
}

// borrowed looks for arguments of calls that stand in an injected span and nowhere else in the conversation: names, dates
// and amounts, which are no anchors.
func (l look) borrowed(ctx context.Context, o *opinion, texts []utterance, injected, rest []string) error {
	count := map[int]int{}
	brought, others := heard{texts: injected}, heard{texts: rest}
	for _, t := range texts {
		if ctx.Err() != nil { // each may be looked for in all of the conversation
			return errUnscanned(t.part)
		}
		value := strings.TrimSpace(t.text)
		if t.part.Kind != gatehouse.ToolCall || t.name || len(value) < minBorrowed || len(value) > maxBorrowed || setsAside(value) ||
			!brought.word(value) || others.word(value) {
			continue
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

// heard is texts in which words are looked for. When many are, the texts are put in order first.
type heard struct {
	texts  []string
	asked  int
	joined []byte
	order  *suffixarray.Index
}

const (
	// fewAsked is how many words are looked for in the texts as they stand: to put these in order takes about as long.
	fewAsked = 32
	// someHeard is how many of the places of a word are looked at, where it may be inside of others, before the texts are.
	someHeard = 64
)

// word reports whether a word stands in any of the texts, and not inside of another.
func (h *heard) word(word string) bool {
	if h.asked++; h.asked <= fewAsked || strings.IndexByte(word, 0) >= 0 {
		return anyWord(h.texts, word)
	}
	if h.order == nil {
		h.joined = []byte(strings.Join(h.texts, "\x00"))
		h.order = suffixarray.New(h.joined)
	}
	places := h.order.Lookup([]byte(word), someHeard)
	for _, start := range places {
		if apart(h.joined, start, start+len(word)) {
			return true
		}
	}
	return len(places) == someHeard && anyWord(h.texts, word)
}

func anyWord(texts []string, word string) bool {
	for _, text := range texts {
		if wordIn(text, word) {
			return true
		}
	}
	return false
}
