package fake

import (
	"encoding/json"
	"strings"
)

// common reads what both formats say in the same fields.
func common(provider string, body map[string]any) Request {
	r := Request{Provider: provider, N: 1}
	r.Model, _ = body["model"].(string)
	r.Stream, _ = body["stream"].(bool)
	if n, ok := body["n"].(json.Number); ok {
		if i, err := n.Int64(); err == nil && i > 0 && i <= 128 {
			r.N = int(i)
		}
	}
	return r
}

// maps are the objects in a list; other elements are skipped.
func maps(v any) []map[string]any {
	list, _ := v.([]any)
	var objects []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			objects = append(objects, m)
		}
	}
	return objects
}

// text is the text of a content field: a string, or the text parts of a list.
func text(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var texts []string
	for _, part := range maps(content) {
		if s, ok := part["text"].(string); ok {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

func str(v any) string { s, _ := v.(string); return s }
