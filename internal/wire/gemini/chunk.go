package gemini

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// chunk is one document of an answer: the whole of it, or one event of a stream.
type chunk struct {
	reader
	root       rawjson.Value
	candidates []said
	blocked    bool // the prompt was, so that there are no candidates
}

// said is what a chunk says of one candidate.
type said struct {
	index    int
	value    rawjson.Value // the candidate
	content  rawjson.Value
	parts    rawjson.Value // an array, or absent
	elems    []element
	others   []slot // what stands beside the content and is not read
	finished bool
}

// slots are all of a candidate's in the order of the document.
func (s said) slots() []slot {
	var out []slot
	for _, e := range s.elems {
		out = append(out, e.slots...)
	}
	return append(out, s.others...)
}

func readChunk(doc []byte) (chunk, error) {
	root, err := wire.ParseObject(doc, wire.MaxDepth)
	if err != nil {
		return chunk{}, err
	}
	c := chunk{reader: reader{doc: doc}, root: root}
	_, list, err := c.list(root, "candidates", "")
	if err != nil {
		return c, err
	}
	seen := map[int]bool{}
	for i, v := range list {
		s, err := c.candidate(v, i)
		switch {
		case err != nil:
			return c, err
		case seen[s.index]:
			return c, wire.Wrong(index("candidates", i)+".index", "one that no other candidate has")
		}
		seen[s.index] = true
		c.candidates = append(c.candidates, s)
	}
	feedback, err := c.object(root, "promptFeedback", "the answer")
	if err != nil {
		return c, err
	}
	reason, err := c.get(feedback, "blockReason", "promptFeedback")
	c.blocked = reason.Exists()
	return c, err
}

func (c *chunk) candidate(v rawjson.Value, place int) (s said, err error) {
	path := index("candidates", place)
	s.value = v
	if s.index, err = c.integer(v, "index", path, place); err != nil {
		return s, err
	}
	as := gatehouse.Part{Role: gatehouse.Assistant, Choice: s.index}
	for _, m := range v.Members {
		switch name := camel(m.Key); {
		case !m.Value.Exists():
		case name == "content":
			if s.content, err = c.object(v, "content", path); err != nil {
				return s, err
			}
			if s.parts, s.elems, err = c.elements(s.content, path+".content", as); err != nil {
				return s, err
			}
			if s.parts.Kind == rawjson.Object {
				return s, wire.Wrong(path+".content.parts", "an array")
			}
		case name == "finishReason":
			s.finished = true
		case aside(name):
		case m.Value.Kind == rawjson.Object && len(m.Value.Members) > 0, len(m.Value.Elems) > 0, m.Value.Text(c.doc) != "":
			s.others = append(s.others, opaque(as, wire.PathName(snake(m.Key)), path))
		}
	}
	return s, nil
}

// aside reports whether a member of a candidate says something about it and holds no text but what its content has.
func aside(name string) bool {
	switch name {
	case "index", "safetyRatings", "citationMetadata", "tokenCount", "avgLogprobs", "logprobsResult", "finishMessage":
		return true
	}
	return false
}

// usage takes the counts that are there; later ones of a stream replace earlier ones, as they are cumulative.
func (c *chunk) usage(u *gatehouse.Usage) error {
	counts, err := c.object(c.root, "usageMetadata", "the answer")
	if err != nil || !counts.Exists() {
		return err
	}
	*u = gatehouse.Usage{}
	for name, to := range map[string]*int64{"promptTokenCount": &u.Input, "toolUsePromptTokenCount": &u.Input,
		"candidatesTokenCount": &u.Output, "thoughtsTokenCount": &u.Output} {
		count, err := c.get(counts, name, "usageMetadata")
		if err != nil {
			return err
		}
		n, _ := count.Int(c.doc)
		*to += n
	}
	return nil
}
