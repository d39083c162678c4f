package checkpoint

import (
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// minToolName is the length, in bytes, from which a tool's name is told from other words.
const minToolName = 3

// toolNames finds the names of the declared tools in texts. There may be very many of both, so a text is not asked about each name:
// all pieces of it that are as long as some name are looked up.
type toolNames struct {
	place   map[string]int // among the tools, by lower-case name
	lengths []int          // of the names, sorted
}

// tools are the tools that the request declares.
func (l look) tools() *toolNames {
	t := &toolNames{place: map[string]int{}}
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if p.Kind != gatehouse.ToolDef || len(p.Tool) < minToolName {
			continue
		}
		if name := lowered(p.Tool); t.place[name] == 0 {
			t.place[name] = len(t.place) + 1
			t.lengths = append(t.lengths, len(name))
		}
	}
	slices.Sort(t.lengths)
	t.lengths = slices.Compact(t.lengths)
	return t
}

// in are the tools that a lower-case text names, in the order of their declaration.
func (t *toolNames) in(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, size := range t.lengths {
		for end := size; end <= len(text); end++ {
			name := text[end-size : end]
			if t.place[name] > 0 && !seen[name] && toolNamed(text, end-size, end) {
				seen[name], out = true, append(out, name)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return t.place[a] - t.place[b] })
	return out
}

// toolNamed reports whether what stands at start..end of a text names a tool of that name: a name that is no word by itself, others as
// "tool search", "search tool", "search(".
func toolNamed(text string, start, end int) bool {
	if strings.ContainsAny(text[start:end], "_-.") {
		return apart(text, start, end)
	}
	before, after := text[:start], text[end:]
	return strings.HasPrefix(after, " tool") || strings.HasPrefix(after, " function") || strings.HasPrefix(after, "(") ||
		strings.HasSuffix(before, "tool ") || strings.HasSuffix(before, "function ")
}
