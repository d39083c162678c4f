package openai

import "github.com/gatehouse-gateway/gatehouse"

// told reports whether what quotes a choice may leave: when something of the choice is there, and nothing will touch any of it any more.
func (c *streamed) told(free func(part int) int) bool {
	for _, g := range c.parts {
		if !g.copy && free(g.place) != gatehouse.Everything {
			return false
		}
	}
	return len(c.parts) > 0
}

// plansAhead plans what becomes of the parts that the events may quote: a quote goes with an edit of what it quotes.
func (w *streamEdit) plansAhead() error {
	planned := map[*streamed]bool{}
	for _, e := range w.events {
		for _, c := range e.ahead {
			if planned[c] {
				continue
			}
			planned[c] = true
			for _, g := range c.parts {
				if g.copy {
					continue
				}
				if err := w.plan(g); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
