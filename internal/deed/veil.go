package deed

import "strings"

// maxTag bounds how much of a tag of HTML is looked at, in bytes.
const maxTag = 400

// veils is what ends the text that begins here, if nobody sees it who reads the text as it is shown: a comment of HTML, or what
// stands in an element that is not displayed or as good as invisible. It is empty if anybody sees it.
func veils(text string) string {
	if strings.HasPrefix(text, "<!--") {
		return "-->"
	}
	if len(text) < 2 || text[0] != '<' || !letter(text[1]) {
		return ""
	}
	tag, _, ok := strings.Cut(text[:min(len(text), maxTag)], ">")
	name, rest, more := strings.Cut(tag[1:], " ")
	switch {
	case !ok || !more:
		return ""
	case rest == "hidden" || strings.HasPrefix(rest, "hidden "):
		return "</" + name
	case !strings.Contains(rest, "style"):
		return ""
	}
	style := strings.ToLower(strings.NewReplacer(" ", "", "\t", "", "\n", "", `"`, ";", "'", ";").Replace(rest)) + ";"
	for _, sign := range [...]string{"display:none", "visibility:hidden", "opacity:0;", "font-size:0", "font-size:1px", "color:#fff;", "color:#ffffff",
		"color:white", "color:transparent", "left:-9999", "left:-999", "text-indent:-9", "max-height:0", "mso-hide:all"} {
		if i := strings.Index(style, sign); i >= 0 && (i == 0 || style[i-1] != '-') {
			return "</" + name
		}
	}
	return ""
}

// blank reports whether a text holds an address with blanks in it that somebody is to fill in: {name}, <name>, $NAME, =NAME.
func blank(text string) bool {
	for {
		i := strings.Index(text, "://")
		if i < 0 {
			return false
		}
		text = text[i+len("://"):]
		end := strings.IndexAny(text, " \t\n\"'`)\x1e")
		if end < 0 {
			end = len(text)
		}
		address := text[:end]
		if strings.ContainsAny(address, "{[<$%") && strings.ContainsAny(address, "}]>$%") && !percented(address) || shouts(address) {
			return true
		}
		text = text[end:]
	}
}

// percented reports whether an address has no other sign of a blank than escapes, as of a space.
func percented(address string) bool {
	if strings.ContainsAny(address, "{[<$") {
		return false
	}
	for i := 0; i < len(address); i++ {
		if address[i] == '%' && (i+2 >= len(address) || !hexadecimal(address[i+1]) || !hexadecimal(address[i+2])) {
			return false
		}
	}
	return true
}

func hexadecimal(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// shouts reports whether the query of an address has a value in capitals: ?b=BALANCE.
func shouts(address string) bool {
	_, query, _ := strings.Cut(address, "?")
	for pair := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' }) {
		_, value, _ := strings.Cut(pair, "=")
		value = strings.TrimRight(value, ".,;:!?")
		if value == "" || value == "..." || value == "\u2026" || len(value) > 1 && strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
			return true
		}
	}
	return false
}
