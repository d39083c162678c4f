package detect

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// payloadMax bounds a payload in bytes: what is cut out of a text with it.
const payloadMax = 500

// sentence widens a match in the original to what a reader would cut out. It stays between the tags and values that it stands in.
func (n *Normalized) sentence(match span, line bool) span {
	wide := sentence(n.Original, match, n.json, line)
	i := sort.Search(len(n.markup), func(i int) bool { return n.markup[i].end > match.start })
	if i > 0 {
		wide.start = max(wide.start, n.markup[i-1].end)
	}
	for i < len(n.markup) && n.markup[i].start < match.end {
		i++
	}
	if i < len(n.markup) {
		wide.end = min(wide.end, n.markup[i].start)
	}
	return wide
}

// sentence widens a match to what a reader would cut out: the sentence that holds it, or with line set everything up to
// the end of the line, because what follows an override is the attacker's too. It never crosses the end of a JSON string,
// a tag of markup, or payloadMax.
func sentence(text string, match span, json, line bool) span {
	return sentenceIn(text, match, json, line, new(span))
}

// sentenceIn is sentence, and keeps in plain a part of the text in which none ends: matches stand close together, and what stands behind
// them need not be looked at for each.
func sentenceIn(text string, match span, json, line bool, plain *span) span {
	room := max(payloadMax-(match.end-match.start), 0)
	if match.end < len(text) && !closes(text, match) {
		limit := min(len(text), match.end+room)
		if match.end < plain.start || match.end > plain.end {
			*plain = span{match.end, match.end}
		}
		for plain.end < limit && !marks[text[plain.end]] {
			plain.end++
		}
		match.end = after(text, min(plain.end, limit), limit, json, line)
		room = max(payloadMax-(match.end-match.start), 0)
	}
	match.start = before(text, match.start, max(0, match.start-room/2), json)
	return match
}

// closes reports whether a match ends with the end of its sentence or element already.
func closes(text string, match span) bool {
	return match.end > match.start && strings.IndexByte("\n>]}", text[match.end-1]) >= 0
}

// after is the end of the sentence or line that byte at belongs to, at most limit.
func after(text string, at, limit int, json, line bool) int {
	for i := at; i < limit; {
		if !marks[text[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case border(text, i, r, json):
			return i
		case !line && ends(text, i, r, size, json):
			return i + size
		case r == '\\' && json:
			size = min(escapeSize(text, i), limit-i)
		}
		i += size
	}
	return runeStart(text, limit)
}

// before is the start of the sentence that byte at belongs to, at least limit.
func before(text string, at, limit int, json bool) int {
	start := at
	for i := at; i > limit; {
		if c := text[i-1]; c < utf8.RuneSelf && !marks[c] && (!json || c != 'n' && c != 'r') {
			if i--; c != ' ' && c != '\t' {
				start = i
			}
			continue
		}
		r, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if border(text, i, r, json) || escapedLine(text, i, r, json) || ends(text, i, r, size, json) {
			break
		}
		if r != ' ' && r != '\t' {
			start = i
		}
	}
	return start
}

// marks are the bytes that borders and ends begin with, and those of escapes.
var marks = func() (is [256]bool) {
	for _, c := range []byte("\n\r<>\"\\.!?") {
		is[c] = true
	}
	for _, r := range "。！？｡।؟" {
		is[string(r)[0]] = true
	}
	return is
}()

// border reports whether the rune at byte i is one that no payload is cut across.
func border(text string, i int, r rune, json bool) bool {
	switch r {
	case '\n', '\r', '<', '>':
		return true
	case '"':
		return json && (!escaped(text, i) || structural(text, i))
	case '\\':
		return json && i+1 < len(text) && !escaped(text, i) && (lineEscape(text[i+1:]) || innerBorder(text, i))
	}
	return false
}

// innerBorder reports whether the backslashes at byte i escape a quotation mark that ends or begins a string of JSON within JSON.
func innerBorder(text string, i int) bool {
	for lead := i; i < len(text) && i-lead < escapeLead; i++ {
		if text[i] == '"' {
			return structural(text, i)
		}
		if text[i] != '\\' {
			break
		}
	}
	return false
}

// structural reports whether the escaped quotation mark at byte i ends or begins a string of JSON within JSON, by what stands beside.
func structural(text string, i int) bool {
	switch c := byteAt(text, i+1); c {
	case ':', '}', ']':
		return true
	case ',':
		if strings.IndexByte("\\{[0123456789", byteAt(text, i+2)) >= 0 {
			return true
		}
	}
	for i > 0 && text[i-1] == '\\' {
		i--
	}
	switch byteAt(text, i-1) {
	case ':', ',', '{', '[':
		return true
	}
	return false
}

// lineEscape reports whether what follows a backslash makes a line end, also behind more backslashes.
func lineEscape(rest string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), escapeLead)], `\`)
	return rest != "" && (rest[0] == 'n' || rest[0] == 'r')
}

// escapedLine reports whether the rune at byte i is the letter of a line-end escape.
func escapedLine(text string, i int, r rune, json bool) bool {
	return json && (r == 'n' || r == 'r') && i > 0 && text[i-1] == '\\'
}

// escaped reports whether an odd number of backslashes stands before byte i. It looks no further than a payload reaches.
func escaped(text string, i int) bool {
	n := 0
	for i > n && n < payloadMax && text[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func escapeSize(text string, i int) int {
	if i+1 < len(text) && text[i+1] == 'u' {
		return 6
	}
	_, size := utf8.DecodeRuneInString(text[min(i+1, len(text)):])
	return 1 + size
}

// ends reports whether the rune at byte i ends a sentence.
func ends(text string, i int, r rune, size int, json bool) bool {
	switch r {
	case '。', '！', '？', '｡', '।', '؟':
		return true
	case '.', '!', '?':
	default:
		return false
	}
	if i+size == len(text) {
		return true
	}
	switch text[i+size] {
	case ' ', '\t', '\n', '\r', '"', '\'', ')', '<':
		return true
	case '\\':
		return json
	}
	return false
}
