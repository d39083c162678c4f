package detect

import "strings"

// paired is a span of a text without a tag at its start whose partner stands behind it, and without one at its end whose partner stands
// before it. The elements of HTML are left out when a text is read; these are others, of feeds and of documents of XML.
func paired(text string, s span) span {
	for {
		inner := text[s.start:s.end]
		name, size := leadingTag(inner)
		if size == 0 || strings.Contains(inner[size:], "</"+name) {
			break
		}
		s.start += size
	}
	for {
		inner := text[s.start:s.end]
		name, size := trailingTag(inner)
		if size == 0 || strings.Contains(inner[:len(inner)-size], "<"+name) {
			return s
		}
		s.end -= size
	}
}

// pairMost bounds a tag that is taken off a span, in bytes.
const pairMost = 64

// leadingTag is the name of the opening tag that a text begins with, and its size; 0 without one.
func leadingTag(text string) (name string, size int) {
	if len(text) < 3 || text[0] != '<' || !letter(text[1]) {
		return "", 0
	}
	end := strings.IndexByte(text[:min(len(text), pairMost)], '>')
	if end < 0 || text[end-1] == '/' || end+1 == len(text) {
		return "", 0
	}
	name, _, _ = strings.Cut(text[1:end], " ")
	return name, end + 1
}

// trailingTag is the name of the closing tag that a text ends with, and its size; 0 without one.
func trailingTag(text string) (name string, size int) {
	if !strings.HasSuffix(text, ">") {
		return "", 0
	}
	from := max(len(text)-pairMost, 0)
	start := strings.LastIndexByte(text[from:], '<')
	if start < 0 {
		return "", 0
	}
	start += from
	if name = strings.TrimSuffix(text[start+1:], ">"); len(name) < 2 || name[0] != '/' || start == 0 {
		return "", 0
	}
	return name[1:], len(text) - start
}
