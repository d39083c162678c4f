package responses

import (
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// notes finds out whether what an event notes about a text may tell of it what has not come; grows says that the text may go on.
func (e *event) notes(r ref, f field, grows bool) {
	if spelled, _ := f.spelled(e.doc); r.growing != nil && (!spelled || grows && f.annotated()) {
		e.tells = append(e.tells, r.growing)
	}
}

// annotated takes an annotation. Its title, or what it quotes, may be of the text behind it.
func (s *stream) annotated(e *event, v view, o *output) {
	text := field{key: v.about, part: gatehouse.Part{Kind: gatehouse.Text}}
	if len(o.parts[text.slot()]) == 0 { // an edit of the text that is still to come shall find it
		s.open(o, text)
	}
	e.about = o.parts[text.slot()][0]
	annotationShape.Unread(v.root.Get("annotation"), e.doc, nil, func(string) { e.tells = []*growing{e.about} })
}

// annotated reports whether there are annotations of the text.
func (f field) annotated() bool { return len(f.notes) > 1 && len(f.notes[0].Elems) > 0 }

// noted reports whether anything speaks of the text.
func (f field) noted() bool {
	for _, n := range f.notes {
		if len(n.Elems) > 0 {
			return true
		}
	}
	return false
}

// spelled reports whether the log probabilities of the text, the last of its notes, tell that text and nothing else. others: beside it they
// tell tokens that would have been likely. Those are words of their own, and nothing waits for them: where they are asked for, they
// come with every piece.
func (f field) spelled(doc []byte) (spelled, others bool) {
	if len(f.notes) == 0 {
		return true, false
	}
	tokens := f.notes[len(f.notes)-1]
	if tokens.Kind == rawjson.String || len(tokens.Members) > 0 {
		return false, false
	}
	if len(tokens.Elems) == 0 {
		return true, false
	}
	return spells(tokens.Elems, f.part.Text, doc)
}

// spells reports whether tokens are a text, one behind the other, and whether any but those are told to have been likely.
func spells(tokens []rawjson.Value, text string, doc []byte) (spelled, others bool) {
	for _, t := range tokens {
		said := t.Get("token").Text(doc)
		rest, ok := strings.CutPrefix(text, said)
		if !ok {
			rest, ok = strings.CutPrefix(text, half(said))
		}
		likely := t.Get("top_logprobs")
		if !ok || t.Kind != rawjson.Object || likely.Kind == rawjson.Object {
			return false, others
		}
		for _, other := range likely.Elems {
			others = others || other.Kind != rawjson.Object || other.Get("token").Text(doc) != said
		}
		text = rest
	}
	return text == "", others
}

// half is what a token stands for that is half of a letter: the API writes its bytes with escapes.
func half(token string) string {
	token = strings.TrimPrefix(token, "bytes:")
	if !strings.Contains(token, `\x`) {
		return token
	}
	if bytes, err := strconv.Unquote(`"` + token + `"`); err == nil {
		return bytes
	}
	return token
}
