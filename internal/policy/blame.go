package policy

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Blame is the value of an argument for whose origin a call was judged as it was. Its zero value says that there is none.
type Blame struct {
	Argument string // path of the argument: args.to[1]; empty when it is in none as a whole
	Value    string // as the argument has it; content, which no reason and no record may quote
	Origin   Origin // a tool's result
}

// blame notes that a condition was told that a value is a tool's: of several, the least trusted, and the first of equals.
func (s *scene) blame(value any, o Origin) {
	if o.Source == ToolResult && (s.blamed.Value == "" || o.Tainted && !s.blamed.Origin.Tainted) {
		s.blamed = Blame{Value: fmt.Sprint(value), Origin: o}
	}
}

// located is the blame with the argument that holds its value.
func (s *scene) located(b Blame) Blame {
	switch {
	case b.Value == "":
	case s.call.Freeform:
		b.Argument = "args.input"
	default:
		b.Argument, _ = s.pathOf(b.Value, s.root, "args")
	}
	return b
}

// pathOf finds the first argument that is a value.
func (s *scene) pathOf(value string, v rawjson.Value, path string) (string, bool) {
	switch v.Kind {
	case rawjson.Object:
		for _, m := range v.Members {
			if at, ok := s.pathOf(value, m.Value, path+"."+plainKey(m.Key)); ok {
				return at, true
			}
		}
	case rawjson.Array:
		for i, e := range v.Elems {
			if at, ok := s.pathOf(value, e, fmt.Sprintf("%s[%d]", path, i)); ok {
				return at, true
			}
		}
	case rawjson.String:
		return path, v.Text(s.doc) == value
	case rawjson.Number:
		number := string(v.Raw(s.doc))
		return path, number == value || json.Valid([]byte(value)) && sameDecimal(number, value)
	}
	return "", false
}
