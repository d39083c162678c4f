package detect

import (
	"sort"
	"strconv"
	"strings"
)

// shade notes that an element begins, where people are not shown what it holds.
func (w *writer) shade(t tag, alone bool) {
	s := &w.page.shroud
	switch {
	case alone:
	case s.name == t.name && t.name == "p": // a paragraph ends where the next begins
		w.unveil()
		w.shade(t, alone)
	case s.name == t.name:
		s.depth++
	case s.name == "" && (t.kind == unseenElement || concealing(w.n.Original, t)):
		*s = shroud{name: t.name, depth: 1, from: len(w.out), limit: len(w.n.Original)}
		if w.n.json {
			s.limit = w.nextQuote()
		}
	}
}

// unveil ends the element that people are not shown.
func (w *writer) unveil() {
	s := &w.page.shroud
	if s.name == "" {
		return
	}
	end := len(w.out)
	if s.limit < w.at {
		end = w.written(s.limit)
	}
	w.veil(s.from, end)
	s.name = ""
}

// written is where in the text stands what was read at byte from of the original.
func (w *writer) written(from int) int {
	all := w.n.pieces
	i := sort.Search(len(all), func(i int) bool { return int(all[i].from) > from }) - 1
	if i < 0 {
		return 0
	}
	return min(int(all[i].at)+from-int(all[i].from), len(w.out))
}

// veil notes that people are not shown a part of the text.
func (w *writer) veil(start, end int) {
	if start < end {
		w.n.veils = append(w.n.veils, span{start, end})
	}
}

// concealing reports whether a tag says that people are not shown its element.
func concealing(text string, t tag) bool {
	for _, a := range t.list {
		value := text[a.value.start:a.value.end]
		hides := false
		switch a.name {
		case "hidden":
			hides = value != "until-found"
		case "aria-hidden":
			hides = value == "true"
		case "type":
			hides = t.name == "input" && value == "hidden"
		case "class":
			hides = hiddenClass(value)
		case "style":
			hides = hiddenStyle(value, t)
		case "color":
			hides = t.name == "font" && pale(lowerASCII(value))
		}
		if hides {
			return true
		}
	}
	return false
}

func hiddenClass(list string) bool {
	for _, name := range strings.Fields(list) {
		switch name {
		case "hidden", "d-none", "sr-only", "visually-hidden", "invisible", "screen-reader-text":
			return true
		}
	}
	return false
}

// hiddenStyle reports whether the declarations of a style leave nothing to see (W3C CSS, "display", "visibility", "color").
func hiddenStyle(style string, t tag) bool {
	var ink, paper string
	clipped := false
	for declaration := range strings.SplitSeq(lowerASCII(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch name {
		case "color":
			ink = value
		case "background", "background-color":
			paper = value
		case "overflow":
			clipped = value == "hidden"
		default:
			if vanishes(name, value) {
				return true
			}
		}
		if clipped && (name == "height" || name == "width" || name == "max-height") && size(value) < 2 {
			return true
		}
	}
	if ink == "" {
		return false
	}
	dark := paper != "" || t.name == "a" || t.kind == blockElement && t.name != "p" && t.name != "div"
	return ink == "transparent" || see(ink) || ink == paper || !dark && pale(ink)
}

// vanishes reports whether one declaration alone hides an element.
func vanishes(name, value string) bool {
	switch name {
	case "display":
		return value == "none"
	case "visibility":
		return value == "hidden" || value == "collapse"
	case "opacity":
		return size(value) <= 0.05
	case "font-size", "line-height", "max-height", "max-width":
		return size(value) <= 1 && (size(value) == 0 || strings.HasSuffix(value, "px") || strings.HasSuffix(value, "pt"))
	case "text-indent", "left", "top", "right", "bottom", "margin-left", "margin-top":
		return size(value) <= -500
	case "transform":
		return value == "scale(0)"
	case "clip":
		return strings.HasPrefix(value, "rect(0") || strings.HasPrefix(value, "rect(1px")
	case "mso-hide":
		return value == "all"
	}
	return false
}

// size is the number that a value begins with; a large one where there is none.
func size(value string) float64 {
	end := 0
	for end < len(value) && (digit(value[end]) || value[end] == '.' || value[end] == '-') {
		end++
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	if err != nil {
		return 1e9
	}
	return n
}

// see reports whether a colour can be seen through altogether.
func see(colour string) bool {
	colour = strings.ReplaceAll(colour, " ", "")
	return strings.HasPrefix(colour, "rgba(") && (strings.HasSuffix(colour, ",0)") || strings.HasSuffix(colour, ",0.0)"))
}

// pale reports whether a colour is that of the paper.
func pale(colour string) bool {
	switch strings.ReplaceAll(colour, " ", "") {
	case "white", "#fff", "#ffffff", "#fefefe", "#fdfdfd", "rgb(255,255,255)", "rgba(255,255,255,1)":
		return true
	}
	return false
}
