package gemini

import (
	"bytes"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// apart is what a document tells of its candidates' texts apart from them, and an edit of a text takes away.
type apart struct {
	ahead  bool     // it may tell what is still to come
	unread []string // paths to what it tells that is in no text
}

// apart looks at the citations, supports and log probabilities of a document's candidates.
func (a *answer) apart(c chunk) (t apart, err error) {
	for _, s := range c.candidates {
		before := ""
		if of := a.candidates[s.index]; of != nil && of.words != nil {
			before = of.words.text.String()
		}
		if err := t.look(c.reader, s, before); err != nil {
			return t, err
		}
	}
	return t, nil
}

// look looks at one candidate. before is the text that it has said in the documents before.
func (t *apart) look(r reader, s said, before string) error {
	cited, err := r.get(s.value, "citationMetadata", "a candidate")
	if err != nil {
		return err
	}
	grounding, err := r.get(s.value, "groundingMetadata", "a candidate")
	if err != nil {
		return err
	}
	supports, err := r.get(grounding, "groundingSupports", "groundingMetadata")
	if err != nil {
		return err
	}
	t.ahead = t.ahead || len(cited.Members) > 0 || len(supports.Elems) > 0
	result, err := r.get(s.value, "logprobsResult", "a candidate")
	if err != nil || !result.Exists() {
		return err
	}
	chosen, err := r.get(result, "chosenCandidates", "logprobsResult")
	if err != nil {
		return err
	}
	top, err := r.get(result, "topCandidates", "logprobsResult")
	if err != nil {
		return err
	}
	tokens, ok := r.tokens(chosen)
	if before = before[max(0, len(before)-len(tokens)):]; !ok || !repeats(tokens, before+s.text()) {
		t.ahead, t.unread = true, append(t.unread, "candidates[].logprobs_result.chosen_candidates")
	}
	if !r.same(top, chosen) {
		t.unread = append(t.unread, "candidates[].logprobs_result.top_candidates")
	}
	return nil
}

// text is what a document brings of the candidate's text and thoughts.
func (s said) text() string {
	var b strings.Builder
	for _, slot := range s.slots() {
		if slot.part.Kind == gatehouse.Text || slot.part.Kind == gatehouse.Reasoning {
			b.WriteString(slot.part.Text)
		}
	}
	return b.String()
}

// tokens is what the tokens of a list say together, and whether it is a list of such.
func (r reader) tokens(list rawjson.Value) (said string, ok bool) {
	var b strings.Builder
	for _, t := range list.Elems {
		token := t.Get("token")
		if t.Kind != rawjson.Object || token.Exists() && token.Kind != rawjson.String {
			return "", false
		}
		b.WriteString(token.Text(r.doc))
	}
	return b.String(), !list.Exists() || list.Kind == rawjson.Array
}

// same reports whether the most likely tokens are the ones that were chosen: others are words that the model has not said.
func (r reader) same(top, chosen rawjson.Value) bool {
	if len(top.Members) > 0 {
		return false
	}
	for i, place := range top.Elems {
		list := place.Get("candidates")
		if place.Kind != rawjson.Object || len(list.Members) > 0 || i >= len(chosen.Elems) && len(list.Elems) > 0 {
			return false
		}
		for _, t := range list.Elems {
			token := t.Get("token")
			if t.Kind != rawjson.Object || token.Exists() && !bytes.Equal(token.Raw(r.doc), chosen.Elems[i].Get("token").Raw(r.doc)) {
				return false
			}
		}
	}
	return true
}

// repeats reports whether the tokens say nothing but what is in the text. Where one ends within a character, another sign stands for
// its bytes.
func repeats(tokens, text string) bool {
	for _, piece := range strings.Split(tokens, "\uFFFD") {
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return true
}
