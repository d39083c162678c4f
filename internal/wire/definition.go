package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Definition is what the definition of a tool says to the model: its description, and below it, a line each, what else of it is text:
// descriptions of parameters, examples, names of parameters that are long enough to say something. An instruction works there as
// well as in the description.
func Definition(tool rawjson.Value, doc []byte) string {
	var b strings.Builder
	b.WriteString(tool.Get("description").Text(doc))
	for _, m := range tool.Members {
		switch m.Key {
		case "name", "description", "type", "cache_control", "server_url", "headers", "authorization":
		default:
			prose(&b, m.Value, doc)
		}
	}
	return b.String()
}

// longestName is what a name of a parameter, or a value of a list, hardly ever exceeds.
const longestName = 40 // characters

func prose(b *strings.Builder, v rawjson.Value, doc []byte) {
	switch v.Kind {
	case rawjson.String:
		line(b, v.Text(doc))
	case rawjson.Array:
		for _, e := range v.Elems {
			prose(b, e, doc)
		}
	case rawjson.Object:
		for _, m := range v.Members {
			line(b, m.Key)
			prose(b, m.Value, doc)
		}
	}
}

// line adds a text that is more than a name.
func line(b *strings.Builder, text string) {
	if !strings.ContainsAny(text, " \t\n") && utf8.RuneCountInString(text) <= longestName {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(text)
}
