package gemini

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Bytes writes the body for these parts. A part without a text of its own cannot be removed: others refer to it. To what is
// embedded or has no contents nothing is added: there is no model to read it.
func (q *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(q.slots))
	if err != nil {
		return nil, err
	}
	var patches []rawjson.Patch
	for i, s := range q.slots {
		if !changed(s.part, own[i]) {
			continue
		}
		if own[i].Removed && (fixed(s.part) || s.part.Kind == gatehouse.ToolCall || s.part.Kind == gatehouse.ToolDef) {
			return nil, fmt.Errorf("%s cannot be removed from a request", s.part.Path)
		}
		p, err := s.write(wire.Final(own[i]))
		if err != nil {
			return nil, err
		}
		patches = append(patches, p)
	}
	var added []string
	for _, p := range inserted {
		added = append(added, p.Text)
	}
	if len(added) > 0 && q.contents.Exists() && !q.embedded {
		insertion, err := q.insert(strings.Join(added, separator))
		if err != nil {
			return nil, err
		}
		patches = append(patches, insertion...)
	}
	return rawjson.Splice(q.doc, patches), nil
}

// separator stands between texts that the gateway adds.
const separator = "\n\n"

// insert adds a text to the end of the last user turn, or makes one.
func (q *request) insert(text string) ([]rawjson.Patch, error) {
	if q.lastUser.Kind == rawjson.Invalid {
		content := append([]byte(`{"role":"user","parts":[`), textPart(text)...)
		return appendElem(q.contents, append(content, "]}"...)), nil
	}
	parts, err := q.get(q.lastUser, "parts", "contents")
	switch {
	case err != nil:
		return nil, err
	case parts.Exists():
		return appendElem(parts, textPart(text)), nil
	}
	list := append(append([]byte{'['}, textPart(text)...), ']')
	return []rawjson.Patch{addMember(q.lastUser, "parts", list)}, nil
}
