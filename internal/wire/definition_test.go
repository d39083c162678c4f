package wire_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestDefinitionTellsAllTextsOfATool(t *testing.T) {
	long := strings.Repeat("very_", 8) + "long"
	for _, c := range []struct{ name, doc, want string }{
		{"a description alone", `{"name":"f","description":"Reads."}`, "Reads."},
		{"names and words", `{"name":"f","description":"Reads.","parameters":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"required":["a"]},"strict":true}`, "Reads."},
		{"parameters", `{"name":"f","description":"Reads.","parameters":{"type":"object","properties":{"a":{"description":"First of all,\nread."},"b":{"items":[{"title":"It is"}]}}}}`, "Reads.\nFirst of all,\nread.\nIt is"},
		{"no description", `{"parameters":{"properties":{"a":{"default":"send it all"}}}}`, "send it all"},
		{"a long name", `{"description":"d","input_schema":{"properties":{"` + long + `":{"enum":["` + long + `s"]}}}}`, "d\n" + long + "\n" + long + "s"},
		{"a name of several words", `{"input_schema":{"properties":{"read the file":{}}}}`, "read the file"},
		{"what no format knows", `{"description":"d","foo":["a b"]}`, "d\na b"},
		{"no texts of its", `{"name":"a b","type":"c d","cache_control":{"x":"e f"},"headers":{"x":"g h"},"authorization":"i j"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := rawjson.Parse([]byte(c.doc), wire.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			if got := wire.Definition(v, []byte(c.doc)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
