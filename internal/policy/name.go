package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// leafSegments are the parts of a tool's full name that its own publisher chose, each as lower-case words: what stands
// between the separators / . : and __, without the label of an MCP server in front and version numbers behind. So
// mcp__gmail__send_email, gmail/sendEmail and SEND-EMAIL all end in send, email.
func leafSegments(name string) [][]string {
	name = norm.NFKD.String(name) // full-width and accented letters become plain ones; words drops the accents
	for _, sep := range []string{"__", ".", ":", "\\"} {
		name = strings.ReplaceAll(name, sep, "/")
	}
	var out [][]string
	for _, segment := range strings.Split(name, "/") {
		if w := words(segment); len(w) > 0 {
			out = append(out, w)
		}
	}
	for len(out) > 1 && version(out[len(out)-1]) {
		out = out[:len(out)-1]
	}
	if len(out) > 2 && len(out[0]) == 1 && out[0][0] == "mcp" {
		out = out[2:]
	}
	return out
}

// version reports whether a segment only numbers what stands before it: 2, v1.
func version(segment []string) bool {
	return len(segment) == 1 && strings.Trim(strings.TrimPrefix(segment[0], "v"), "0123456789") == ""
}

// words are the words of one segment in lower case, split where snake, kebab or camel case splits them: HTTPDelete is
// http, delete. Characters that nobody sees split nothing and are dropped.
func words(segment string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), nil
		}
	}
	runes := visible(segment)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			afterLower := unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return out
}

func visible(s string) []rune {
	var out []rune
	for _, r := range s {
		if !unicode.In(r, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) {
			out = append(out, r)
		}
	}
	return out
}
