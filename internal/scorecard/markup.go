package scorecard

import "strings"

// balance counts the tags of a text that have no partner, and the pairs. Elements that are never closed and tags that close
// themselves count as neither; what stands in comments, scripts and styles is no tag. The order of tags is not looked at.
func balance(text string) (alone, pairs int) {
	open := map[string]int{}
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			break
		}
		text = text[i+1:]
		if comment, ok := strings.CutPrefix(text, "!--"); ok {
			_, text, _ = strings.Cut(comment, "-->")
			continue
		}
		name, closes, rest := tag(text)
		if name == "" {
			continue
		}
		text = rest
		switch {
		case !closes:
			open[name]++
			if name == "script" || name == "style" {
				text = behindRaw(text, name)
			}
		case open[name] > 0:
			open[name]--
			pairs++
		default:
			alone++
		}
	}
	for _, n := range open {
		alone += n
	}
	return alone, pairs
}

// void elements have no content and no closing tag.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true, "meta": true,
	"param": true, "source": true, "track": true, "wbr": true,
}

// tagMax bounds the name of an element, in bytes, and so how far one < is looked at.
const tagMax = 64

// tag reads what stands behind a <. The name is empty when that is no tag, or one that counts as neither.
func tag(text string) (name string, closes bool, rest string) {
	text, closes = strings.CutPrefix(text, "/")
	size := 0
	for size < len(text) && size < tagMax && nameByte(text[size]) {
		size++
	}
	if size == 0 || !letter(text[0]) || size == len(text) || strings.IndexByte(" \t\r\n/>", text[size]) < 0 {
		return "", false, text
	}
	end := strings.IndexAny(text[size:], "<>")
	if end < 0 || text[size+end] == '<' || text[size+end-1] == '/' {
		return "", false, text
	}
	if name = strings.ToLower(text[:size]); void[name] {
		return "", false, text
	}
	return name, closes, text[size+end+1:]
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func nameByte(b byte) bool {
	return letter(b) || b >= '0' && b <= '9' || b == '-' || b == ':' || b == '_'
}

// behindRaw skips to the tag that closes a script or a style.
func behindRaw(text, name string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], "</")
		if i < 0 {
			return ""
		}
		at += i
		if end := at + 2 + len(name); end <= len(text) && strings.EqualFold(text[at+2:end], name) {
			return text[at:]
		}
		at += 2
	}
}
