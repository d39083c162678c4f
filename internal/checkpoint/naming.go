package checkpoint

import (
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// naming is what somebody has named.
type naming struct {
	seen  map[anchor]bool
	texts []string // lower-case
}

// say adds a text.
func (n *naming) say(text string) {
	if n.seen == nil {
		n.seen = map[anchor]bool{}
	}
	for _, s := range sightings(readable(text, text)) {
		n.seen[s.anchor] = true
	}
	n.texts = append(n.texts, lowered(text))
}

// add adds what the model has said or called.
func (n *naming) add(p *gatehouse.Part) {
	n.say(p.Original())
	if p.Kind == gatehouse.ToolCall {
		n.seen[anchor{anchorTool, lowered(p.Tool)}] = true
	}
}

// holds reports whether an anchor has been named. A tool is named by any long word of its name.
func (n *naming) holds(a anchor) bool {
	if n.seen[a] {
		return true
	}
	var words []string
	switch a.kind {
	case anchorPhrase:
		words = []string{a.value}
	case anchorTool:
		words = strings.FieldsFunc(a.value, func(r rune) bool { return r < 'a' || r > 'z' })
		words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 })
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(n.texts, func(text string) bool { return strings.Contains(text, w) })
	})
}

// unsaid are those anchors that neither the user nor the operator has named outside of what is injected. A text of an earlier turn
// that names one is scanned again: its findings are not kept, and this is rare.
func (l look) unsaid(ctx context.Context, list []named, findings byPart) []named {
	for i := range l.x.Request {
		if len(list) == 0 {
			return nil
		}
		p := &l.x.Request[i]
		if p.Kind != gatehouse.Text || p.Inserted || p.Role != gatehouse.User && p.Role != gatehouse.System {
			continue
		}
		all := naming{}
		all.say(p.Original())
		if !slices.ContainsFunc(list, func(n named) bool { return all.holds(n.anchor) }) {
			continue
		}
		mine := findings
		if p.Replayed {
			r := l.scanner.Scan(ctx, detect.Text{Channel: detect.Input, Text: p.Original()})
			if !r.Complete {
				continue // whoever cannot be asked has not said it
			}
			mine = byPart{p.ID: r.Findings}
		}
		own := naming{}
		own.say(without(p.Original(), l.injected(p, mine)))
		list = slices.DeleteFunc(list, func(n named) bool { return own.holds(n.anchor) })
	}
	return list
}
