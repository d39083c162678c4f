package embeddings

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// answerShape is what an answer holds that is no text: numbers, and a few words. Any other text is named in the coverage.
var answerShape = wire.Object(map[string]wire.Shape{
	"id": wire.ID, "object": wire.Word, "model": wire.ID, "request_id": wire.ID,
	"error": wire.Object(map[string]wire.Shape{"type": wire.Word, "code": wire.Word, "param": wire.ID, "status": wire.Word}),
	"data":  wire.Object(map[string]wire.Shape{"object": wire.Word, "embedding": {}}), // see measures
})

const vectors = "data[].embedding"

// unread tells the sink what of an answer may be a text.
func unread(root rawjson.Value, doc []byte, to wire.Sink) {
	written := false // there are embeddings that are strings
	answerShape.Unread(root, doc, nil, func(path string) {
		if path == vectors {
			written = true
			return
		}
		to.Unread(path)
	})
	if written && slices.ContainsFunc(root.Get("data").Elems, func(v rawjson.Value) bool { return !measures(v.Get("embedding"), doc) }) {
		to.Unread(vectors)
	}
}

// measures reports whether a value is no string, or one that holds numbers of 32 bits in base64, as encoding_format says. Letters
// that mean something else hardly ever make numbers of the size that embeddings have.
func measures(v rawjson.Value, doc []byte) bool {
	if v.Kind != rawjson.String {
		return true
	}
	const least, most = 1e-15, 1e4
	text := []byte(v.Text(doc))
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil || n%4 != 0 {
		return false
	}
	for raw = raw[:n]; len(raw) > 0; raw = raw[4:] {
		x := math.Abs(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		if x != 0 && !(x >= least && x <= most) {
			return false
		}
	}
	return true
}
