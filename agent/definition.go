package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// definition is what a tool says to the model, as the doors read it: its description, and below it, a line each, the texts of its
// schema.
func (d Declaration) definition() string {
	lines := []string{}
	if d.Description != "" {
		lines = append(lines, d.Description)
	}
	for r := json.NewDecoder(bytes.NewReader(d.Schema)); ; {
		token, err := r.Token()
		if err != nil { // its end, or no JSON: the model's own SDK refuses that
			return strings.Join(lines, "\n")
		}
		if text, ok := token.(string); ok && (strings.ContainsAny(text, " \t\n") || utf8.RuneCountInString(text) > longestName) {
			lines = append(lines, text)
		}
	}
}

// longestName is what a name of a parameter, or a value of a list, hardly ever exceeds; in characters.
const longestName = 40
