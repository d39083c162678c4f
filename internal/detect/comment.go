package detect

import "strings"

// declaration reads a comment, or what says how to read the page. size is what its lead takes.
func (w *writer) declaration(size int) bool {
	text := w.n.Original[:w.end]
	rest := text[w.at+size:]
	if strings.HasPrefix(rest, "--") {
		return w.comment(w.at + size + 2)
	}
	const most = 256
	for _, lead := range [...]string{"doctype", "xml", "[cdata["} {
		if len(rest) < len(lead) || !strings.EqualFold(rest[:len(lead)], lead) {
			continue
		}
		end := strings.IndexByte(rest[:min(len(rest), most)], '>')
		if lead[0] == '[' {
			end = len(lead) - 1
		}
		if end < 0 || lead[0] != '[' && (!onlyASCII([]byte(rest[:end])) || len(strings.Fields(rest[:end])) > 9 || commonWords(rest[:end], 3) > 2) {
			return false // it says something else
		}
		w.cut(mark{span{w.at, w.at + size + end + 1}, 0, tagParts})
		return true
	}
	return false
}

// comment reads the comment whose text begins at byte from. It is a line of its own, with the marks that make it a comment because
// rules know it by them; one of a single word, which may part another, is nothing.
func (w *writer) comment(from int) bool {
	end, size := w.commentEnd(from)
	if size == 0 || w.n.json && w.quoteBefore(end) {
		return false
	}
	said := strings.TrimSpace(w.n.Original[from:end])
	if len(strings.Fields(said[:min(len(said), 64)])) < 2 && len(said) < 24 {
		w.cut(mark{span{w.at, end + size}, 0, tagAlone})
		return true
	}
	w.newLine()
	begin := len(w.out)
	w.n.markup = append(w.n.markup, mark{span{w.at, from}, 0, tagParts})
	w.solid(from-w.at, "<!--")
	w.read(end)
	w.at = max(w.at, end)
	w.n.markup = append(w.n.markup, mark{span{w.at, end + size}, 0, tagParts})
	w.solid(end+size-w.at, "-->")
	if w.page.shroud.name == "" {
		w.veil(begin, len(w.out))
	}
	w.newLine()
	return true
}

// commentEnd is where the comment that is open at byte from ends, and the size of its end; 0 where it has none.
func (w *writer) commentEnd(from int) (end, size int) {
	a := &w.page.ends
	if !a.known || a.at < from {
		a.known, a.at = true, w.nextCommentEnd(from)
	}
	if a.at+2 >= w.end {
		return 0, 0
	}
	_, size = w.unit(a.at + 2)
	return a.at, 2 + size
}

// nextCommentEnd is the next place where a comment may end, from byte i on; the length of the text where there is none.
func (w *writer) nextCommentEnd(i int) int {
	text := w.n.Original
	for i < len(text) {
		k := strings.Index(text[i:], "--")
		if k < 0 {
			break
		}
		i += k
		if c, _ := w.unit(i + 2); c == '>' {
			return i
		}
		i++
	}
	return len(text)
}

// quoteBefore reports whether a quotation mark that ends a string of JSON stands before byte end.
func (w *writer) quoteBefore(end int) bool { return w.nextQuote() < end }

// nextQuote is the next quotation mark that no backslash escapes.
func (w *writer) nextQuote() int {
	a, text := &w.page.quotes, w.n.Original
	if a.known && a.at >= w.at {
		return a.at
	}
	a.known = true
	for a.at = w.at; a.at < len(text); a.at++ {
		if text[a.at] == '\\' {
			a.at++
		} else if text[a.at] == '"' {
			break
		}
	}
	return a.at
}
