package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestShapeFindsWhatNobodyReads(t *testing.T) {
	shape := wire.Object(map[string]wire.Shape{
		"id": wire.ID, "object": wire.Word, "created": {}, "more": wire.Read,
		"said": wire.Text, "pieces": wire.Object(map[string]wire.Shape{"text": wire.Text}).OrText(),
		"signature": wire.Bytes, "at": wire.Time,
		"choices": wire.Object(map[string]wire.Shape{
			"index": {}, "finish_reason": wire.Word, "message": wire.Object(map[string]wire.Shape{"content": wire.Read}),
		}),
		"output": wire.Kinds(map[string]wire.Shape{
			"text": wire.Object(map[string]wire.Shape{"type": wire.Word, "text": wire.Read}),
			"":     wire.Read,
		}),
	})
	const token = "ghp_x8Kf2mPq7RtVw3Yz5AbCdEfGhJkLmNoPqRsT"
	for _, c := range []struct {
		name, doc string
		want      string
	}{
		{"all known", `{"id":"chatcmpl-1","object":"chat.completion","created":1,"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Hello, you"}}]}`, ""},
		{"unknown, of no text", `{"usage":{"a":1,"b":[true,null],"c":"","d":{}},"service":null}`, ""},
		{"unknown text", `{"note":"x"}`, "note"},
		{"unknown, deep", `{"choices":[{"index":0},{"index":1,"logs":[[{"a":"b"}]]}]}`, "choices[].logs"},
		{"beside the content", `{"choices":[{"message":{"content":"a","thoughts":"b"}}]}`, "choices[].message.thoughts"},
		{"another kind of value", `{"choices":"words of it"}`, "choices"},
		{"a list of texts", `{"choices":["words of it"]}`, "choices[]"},
		{"an object for a word", `{"object":{"a":"b"}}`, "object.a"},
		{"a number for an object", `{"choices":[{"message":7}]}`, ""},
		{"words for an id", `{"id":"it is so"}`, "id"},
		{"an escape in an id", `{"id":"it\u0020is"}`, "id"},
		{"a long id", `{"id":"` + strings.Repeat("x", 513) + `"}`, "id"},
		{"a token for a word", `{"object":"` + token + `"}`, "object"},
		{"a number for a word", `{"object":"4111111111111111"}`, "object"},
		{"a text that is read", `{"said":"it is so","pieces":"it is so"}`, ""},
		{"another thing than the text that is read", `{"said":["it is so"]}`, "said[]"},
		{"an object in its place", `{"said":{"a":"it is so"}}`, "said.a"},
		{"lists in a list of pieces", `{"pieces":[[{"text":"it is so"}]],"choices":[[{"message":{"content":"it is so"}}]]}`, "pieces[][].text choices[][].message"},
		{"pieces in its place", `{"pieces":[{"text":"it is so"}]}`, ""},
		{"texts in place of pieces", `{"pieces":["it is so"]}`, "pieces[]"},
		{"bytes", `{"signature":["","c2ln","cw==","cw\u003d\u003d","EqQB+/gY","9f1c-00aa"]}`, ""},
		{"a token for bytes", `{"signature":"` + token + `"}`, "signature"},
		{"words for bytes", `{"signature":"it is so"}`, "signature"},
		{"dashes in bytes", `{"signature":"sk-ant-x"}`, "signature"},
		{"a time", `{"at":"2026-11-22T12:30:00.125Z"}`, ""},
		{"a token for a time", `{"at":"` + token + `"}`, "at"},
		{"very deep", `{"choices":` + strings.Repeat("[", 40) + `"it is so"` + strings.Repeat("]", 40) + `}`, "choices" + strings.Repeat("[]", 23)},
		{"a text where a number stands", `{"created":"today"}`, "created"},
		{"a name that may be a text", `{"` + token + `":1}`, "*"},
		{"such a name below an unknown one", `{"map":{"` + token + `":1}}`, "map"},
		{"read", `{"more":{"a":["b"],"` + token + `":1}}`, ""},
		{"of a kind", `{"output":[{"type":"text","text":"a b"},{"type":"image","url":"a b"}]}`, ""},
		{"beside what a kind has", `{"output":[{"type":"text","text":"a b","url":"a b"}]}`, "output[].url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := rawjson.Parse([]byte(c.doc), wire.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			shape.Unread(v, []byte(c.doc), nil, func(path string) { got = append(got, path) })
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestShapeSpells(t *testing.T) {
	shape := wire.Object(map[string]wire.Shape{"finishReason": wire.Word})
	doc := []byte(`{"finishReason":"STOP","finishMessage":"because","finish_reason":"STOP","finishReason_":"it is so"}`)
	v, err := rawjson.Parse(doc, wire.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	shape.Unread(v, doc, func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(name, "R", "_r"), "M", "_m")
	}, func(path string) { got = append(got, path) })
	if !slices.Equal(got, []string{"finish_message", "finish_reason", "finish_reason_"}) {
		t.Errorf("found %q", got)
	}
}

func TestAlignLeavesOutWhatIsUnread(t *testing.T) {
	own := gatehouse.Part{Kind: gatehouse.Text, Text: "a"}
	unread := gatehouse.Part{Kind: gatehouse.Opaque, Media: gatehouse.Unread}
	added := gatehouse.Part{Kind: gatehouse.Text, Text: "b", Inserted: true}
	first, rest, err := wire.Align([]gatehouse.Part{own, unread, unread, added}, 1)
	if err != nil || len(first) != 1 || len(rest) != 1 || rest[0].Text != "b" {
		t.Errorf("%v, %v, %v", first, rest, err)
	}
	if _, _, err := wire.Align([]gatehouse.Part{own, own, unread}, 1); err == nil {
		t.Error("a part that is lost")
	}
}

func TestShapeCostsNoMemory(t *testing.T) {
	shape := wire.Object(map[string]wire.Shape{"type": wire.Word, "delta": wire.Object(map[string]wire.Shape{"text": wire.Read})})
	doc := []byte(`{"type":"content_block_delta","index":0,"delta":{"text":"Hello, you"}}`)
	v, err := rawjson.Parse(doc, wire.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { shape.Unread(v, doc, nil, func(path string) { t.Error(path) }) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
