package gemini

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// reader reads the objects of one document. The API takes each member's name in two spellings, fooBar and foo_bar; a member
// that is there in both could be read as either, and is refused.
type reader struct {
	doc []byte
}

// get is the member of an object by its name in camel case, or the same in snake case; the zero Value when there is none.
func (r reader) get(v rawjson.Value, name, path string) (rawjson.Value, error) {
	var found rawjson.Value
	for _, m := range v.Members {
		if camel(m.Key) != name {
			continue
		}
		if found.Kind != rawjson.Invalid {
			return found, &wire.Malformed{Code: "duplicate_key", Reason: path + " has " + name + " in two spellings"}
		}
		found = m.Value
	}
	return found, nil
}

// camel is a member's name as JSON spells it. A name that is in neither of the two spellings is nobody else's.
func camel(key string) string {
	if strings.IndexByte(key, '_') < 0 {
		return key
	}
	out := make([]byte, 0, len(key))
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c >= 'A' && c <= 'Z':
			return key
		case c == '_' && i > 0 && i+1 < len(key) && key[i+1] >= 'a' && key[i+1] <= 'z':
			i++
			out = append(out, key[i]-'a'+'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// snake is a member's name in small letters, as tools are named.
func snake(key string) string {
	if strings.IndexFunc(key, func(c rune) bool { return c >= 'A' && c <= 'Z' }) < 0 {
		return key
	}
	out := make([]byte, 0, len(key)+4)
	for i, c := range []byte(key) {
		if c >= 'A' && c <= 'Z' {
			if i > 0 && key[i-1] != '_' {
				out = append(out, '_')
			}
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

// text is an optional member that is a string.
func (r reader) text(v rawjson.Value, name, path string) (rawjson.Value, error) {
	at, err := r.get(v, name, path)
	if err == nil && at.Exists() && at.Kind != rawjson.String {
		err = wire.Wrong(path+"."+name, "a string")
	}
	return at, err
}

// object is an optional member that is an object.
func (r reader) object(v rawjson.Value, name, path string) (rawjson.Value, error) {
	at, err := r.get(v, name, path)
	if err == nil && at.Exists() && at.Kind != rawjson.Object {
		err = wire.Wrong(path+"."+name, "an object")
	}
	return at, err
}

// list is an optional member that is an array of objects, or one object that stands for an array of one, as the API takes it.
func (r reader) list(v rawjson.Value, name, path string) (list rawjson.Value, elems []rawjson.Value, err error) {
	list, err = r.get(v, name, path)
	if path != "" {
		path += "."
	}
	path += name
	switch {
	case err != nil:
		return list, nil, err
	case !list.Exists():
		return list, nil, nil
	case list.Kind == rawjson.Object:
		return list, []rawjson.Value{list}, nil
	case list.Kind != rawjson.Array:
		return list, nil, wire.Wrong(path, "an array")
	}
	for i, e := range list.Elems {
		if e.Kind != rawjson.Object {
			return list, nil, wire.Wrong(index(path, i), "an object")
		}
	}
	return list, list.Elems, nil
}

// integer is an optional member that is a small integer; absent is what it is without one.
func (r reader) integer(v rawjson.Value, name, path string, absent int) (int, error) {
	at, err := r.get(v, name, path)
	if err != nil || !at.Exists() {
		return absent, err
	}
	n, ok := at.Int(r.doc)
	if !ok || n < 0 || n > maxIndex {
		return 0, wire.Wrong(path+"."+name, fmt.Sprintf("an integer up to %d", maxIndex))
	}
	return int(n), nil
}

// maxIndex bounds the candidates of an answer; the API allows eight.
const maxIndex = 1 << 10

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
