package wire

import (
	"errors"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// MaxDepth bounds nested arrays and objects in a body: tool schemas and arguments stay far below it, and the readers
// recurse, so without a bound a body of brackets would exhaust the stack.
const MaxDepth = 128

// ParseObject reads a body that must be one JSON object of at most depth nested levels ([MaxDepth] for 0). The error is a
// [Malformed].
func ParseObject(doc []byte, depth int) (rawjson.Value, error) {
	if depth <= 0 {
		depth = MaxDepth
	}
	root, err := rawjson.Parse(doc, depth)
	switch {
	case errors.Is(err, rawjson.ErrDuplicate):
		return root, &Malformed{Code: "duplicate_key", Reason: err.Error()}
	case errors.Is(err, rawjson.ErrUTF8):
		return root, &Malformed{Code: "invalid_utf8", Reason: err.Error()}
	case errors.Is(err, rawjson.ErrDepth):
		return root, &Malformed{Code: "too_deep", Reason: err.Error()}
	case err != nil:
		return root, &Malformed{Code: "invalid_json_body", Reason: err.Error()}
	case root.Kind != rawjson.Object:
		return root, &Malformed{Code: "invalid_request", Reason: "the body must be an object"}
	}
	return root, nil
}

// PathName is a member's name as it may stand in a part's path, which is recorded: names that do not look like those of an
// API are content, and a star stands for them.
func PathName(key string) string {
	const longest = 40 // the longest names of the formats have 30 letters
	plain := len(key) > 0 && len(key) <= longest
	for _, c := range []byte(key) {
		plain = plain && (c >= 'a' && c <= 'z' || c == '_')
	}
	if !plain {
		return "*"
	}
	return key
}

// CheckStream refuses a request whose field stream is anything but true, false or null: servers do not agree about what else means,
// and one that streams would do so uninvited.
func CheckStream(root rawjson.Value) error {
	if v := root.Get("stream"); v.Exists() && v.Kind != rawjson.Bool {
		return &Malformed{Code: "invalid_request", Reason: "stream must be a boolean"}
	}
	return nil
}
