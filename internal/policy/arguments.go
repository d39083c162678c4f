package policy

import (
	"errors"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// maxDepth bounds the nesting of arguments, as the default limits.depth bounds a body's.
const maxDepth = 128

// readArguments finds the arguments of a call: an object, or a string that holds one; empty means none. The reason says
// why they cannot be judged, and never quotes them; it is empty when they can.
func readArguments(args string) (v rawjson.Value, doc []byte, reason string) {
	v, doc, reason = parseArguments(args)
	if reason == "" && v.Kind == rawjson.String {
		// Some clients encode the object a second time. Once more is an accident, twice more is hiding.
		v, doc, reason = parseArguments(v.Text(doc))
	}
	if reason == "" && v.Kind != rawjson.Object {
		reason = "the arguments are not a JSON object"
	}
	return v, doc, reason
}

func parseArguments(args string) (v rawjson.Value, doc []byte, reason string) {
	if strings.Trim(args, " \t\r\n") == "" {
		args = "{}"
	}
	doc = []byte(args)
	v, err := rawjson.Parse(doc, maxDepth)
	switch {
	case err == nil:
		return v, doc, ""
	case errors.Is(err, rawjson.ErrDuplicate):
		return v, doc, "the arguments name a key twice"
	case errors.Is(err, rawjson.ErrDepth):
		return v, doc, "the arguments are nested too deep"
	case errors.Is(err, rawjson.ErrUTF8):
		return v, doc, "the arguments are not valid UTF-8"
	}
	return v, doc, "the arguments are not valid JSON"
}
