package anthropic

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// resultShape is the shape of what the tools of the provider have returned. The content is read but for the members of structureShapes.
var resultShape = wire.Object(map[string]wire.Shape{
	"type": wire.Word, "tool_use_id": wire.ID, "content": wire.Read, "caller": callerShape, "cache_control": cacheShape,
})

// structureShapes are those of the members that name or place something in such a content, at any depth: an edit would break the
// result.
var structureShapes = map[string]wire.Shape{
	"type": wire.Word, "id": wire.ID, "tool_use_id": wire.ID, "file_id": wire.ID, "tool_name": wire.ID,
	"media_type": wire.Word, "file_type": wire.Word, "error_code": wire.Word,
	"url": {}, "page_age": {}, "retrieved_at": wire.Time, "caller": callerShape, "cache_control": cacheShape,
}

// hostedResult reads every string of a result that a person could read. Shapes differ by tool and grow with the API, so
// it knows what to leave out and not what to take.
func (r *reader) hostedResult(b rawjson.Value, path string, as gatehouse.Part) error {
	as, err := r.asResult(b, path, as)
	if err != nil {
		return err
	}
	r.readable(b.Get("content"), path+".content", as)
	return nil
}

func (r *reader) readable(v rawjson.Value, path string, as gatehouse.Part) {
	switch v.Kind {
	case rawjson.String:
		r.text(v, path, as)
	case rawjson.Array:
		for i, e := range v.Elems {
			r.readable(e, fmt.Sprintf("%s[%d]", path, i), as)
		}
	case rawjson.Object:
		if v.Get("type").Text(r.doc) == "base64" {
			r.opaque("base64", path, as)
			return
		}
		for _, m := range v.Members {
			at := path + "." + wire.PathName(m.Key)
			shape, structural := structureShapes[m.Key]
			switch {
			case strings.HasPrefix(m.Key, "encrypted_"):
				r.opaque(m.Key, at, as)
			case structural:
				r.structure(m.Value, shape, at)
			default:
				r.readable(m.Value, at, as)
			}
			if wire.PathName(m.Key) == "*" && r.to != nil { // the name may be a text, too
				r.to.Unread(wire.AnyElement(at))
			}
		}
	}
}

// structure names what a member of a hosted result holds that is not what it is there for.
func (r *reader) structure(v rawjson.Value, shape wire.Shape, path string) {
	if r.to == nil {
		return
	}
	shape.Unread(v, r.doc, nil, func(below string) {
		if below != "" && below[0] != '[' {
			below = "." + below
		}
		r.to.Unread(wire.AnyElement(path) + below)
	})
}
