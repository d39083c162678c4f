package detect

import "strings"

// element says how an element of HTML takes part in the text around it.
type element uint8

const (
	unknown       element = iota
	inlineElement         // it leaves the line as it is
	blockElement          // it begins and ends a line
	voidElement           // inline, without an end
	lineElement           // block, without an end
	rawElement            // block, and what it holds is no markup
	unseenElement         // block, and never shown
)

// elements are the elements of HTML and SVG (WHATWG HTML, "Elements"). Those whose names the tools of models use for other things
// are left out, as "output" and "data" are: rules read them.
var elements = map[string]element{
	"a": inlineElement, "abbr": inlineElement, "acronym": inlineElement, "b": inlineElement, "bdi": inlineElement, "bdo": inlineElement, "big": inlineElement, "cite": inlineElement, "code": inlineElement,
	"del": inlineElement, "dfn": inlineElement, "em": inlineElement, "font": inlineElement, "i": inlineElement, "ins": inlineElement, "kbd": inlineElement, "label": inlineElement, "mark": inlineElement,
	"q": inlineElement, "rp": inlineElement, "rt": inlineElement, "ruby": inlineElement, "s": inlineElement, "samp": inlineElement, "slot": inlineElement, "small": inlineElement, "span": inlineElement,
	"strike": inlineElement, "strong": inlineElement, "sub": inlineElement, "sup": inlineElement, "time": inlineElement, "tspan": inlineElement, "tt": inlineElement, "u": inlineElement, "var": inlineElement,
	"path": inlineElement, "g": inlineElement, "defs": inlineElement, "circle": inlineElement, "rect": inlineElement, "polygon": inlineElement, "nobr": inlineElement, "blink": inlineElement,
	"address": blockElement, "article": blockElement, "aside": blockElement, "audio": blockElement, "blockquote": blockElement, "body": blockElement, "button": blockElement, "canvas": blockElement,
	"caption": blockElement, "center": blockElement, "colgroup": blockElement, "datalist": blockElement, "dd": blockElement, "details": blockElement, "dialog": blockElement, "dir": blockElement,
	"div": blockElement, "dl": blockElement, "dt": blockElement, "fieldset": blockElement, "figcaption": blockElement, "figure": blockElement, "footer": blockElement, "form": blockElement,
	"h1": blockElement, "h2": blockElement, "h3": blockElement, "h4": blockElement, "h5": blockElement, "h6": blockElement, "head": blockElement, "header": blockElement, "hgroup": blockElement,
	"html": blockElement, "iframe": blockElement, "legend": blockElement, "li": blockElement, "main": blockElement, "map": blockElement, "marquee": blockElement, "menu": blockElement,
	"meter": blockElement, "nav": blockElement, "object": blockElement, "ol": blockElement, "optgroup": blockElement, "option": blockElement, "p": blockElement, "picture": blockElement,
	"pre": blockElement, "progress": blockElement, "section": blockElement, "select": blockElement, "summary": blockElement, "svg": blockElement, "table": blockElement, "tbody": blockElement,
	"td": blockElement, "textarea": blockElement, "tfoot": blockElement, "th": blockElement, "thead": blockElement, "title": blockElement, "tr": blockElement, "ul": blockElement, "video": blockElement,
	"img": voidElement, "input": voidElement, "wbr": voidElement, "area": voidElement, "basefont": voidElement,
	"base": lineElement, "br": lineElement, "col": lineElement, "embed": lineElement, "frame": lineElement, "hr": lineElement, "link": lineElement, "meta": lineElement, "param": lineElement,
	"source": lineElement, "track": lineElement,
	"script": rawElement, "style": rawElement,
	"template": unseenElement, "noscript": unseenElement,
}

// elementName bounds the names of elements, in bytes.
const elementName = 12

// attribute is an attribute of a tag. Its value is a range of the original.
type attribute struct {
	name  string
	start int // of its name in the original
	value span
}

// flag reports whether an attribute is one that HTML has without a value.
func (a attribute) flag() bool {
	switch a.name {
	case "hidden", "disabled", "checked", "selected", "required", "readonly", "async", "defer", "autoplay", "controls", "loop", "muted",
		"multiple", "novalidate", "open", "reversed", "allowfullscreen", "nomodule", "itemscope", "inert", "autofocus", "ismap", "default",
		"nowrap", "noshade", "playsinline", "crossorigin", "download":
		return true
	}
	for _, prefix := range [...]string{"data-", "v-", "x-", "ng-", "@", ":"} {
		if strings.HasPrefix(a.name, prefix) {
			return len(a.name) <= flagMax
		}
	}
	return false
}

// flagMax bounds the names of attributes without a value, in bytes: longer ones could say something.
const flagMax = 24

// speaks reports whether the value of an attribute is for somebody to read: alternative texts always, links where they carry a
// query, others where they hold several words. Lists of classes and drawings do only where these are common ones.
func (a attribute) speaks(value string) bool {
	blanks, letters, wide := 0, 0, 0
	for _, c := range []byte(value) {
		switch {
		case c <= ' ' || c == '&' || c == '\\' || c == 0xC2: // an entity, an escape and the lead of a wide blank may be one
			blanks++
		case letter(c):
			letters++
		case c >= 0x80:
			letters++
			wide++
		}
	}
	switch a.name {
	case "class", "style", "d", "points", "transform", "viewbox", "sizes", "rel", "sandbox", "allow", "media", "xmlns":
		return blanks >= sentenceLeast && commonWords(value, sentenceLeast) >= sentenceLeast
	case "href", "src", "srcset", "action", "data", "poster", "background", "cite", "formaction":
		return carries(value) || blanks >= sentenceLeast && commonWords(value, sentenceLeast) >= sentenceLeast
	case "alt", "title", "aria-label", "aria-description", "placeholder", "content", "value", "summary", "label":
		return letters > 0 && (blanks > 0 || letters >= 24 || value[0] >= 0x80)
	}
	return letters > 0 && (blanks > 1 || wide >= wideLeast)
}

const (
	// sentenceLeast is how many common words an attribute holds that says something although it is none for words.
	sentenceLeast = 3
	// wideLeast is how many bytes beyond ASCII make a sentence without blanks.
	wideLeast = 18
)

// carries reports whether the address of a link carries something that may be data or words.
func carries(address string) bool {
	for i, c := range []byte(address) {
		if (c == '?' || c == '{' || c == '#') && len(address)-i > 12 {
			return true
		}
	}
	return len(address) > 5 && (address[:5] == "data:" || address[:5] == "javas")
}
