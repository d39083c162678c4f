package gemini

import "github.com/gatehouse-gateway/gatehouse"

// edit is what happens to one candidate.
type edit struct {
	*candidate
	gone   map[*run]string // with the notices that stand in their places
	signed map[*run][]byte // calls that take over the signature of one that goes
	added  []string        // texts for the end
	end    int             // the event that they go to
}

// dropOutput lets the output of code go along with the code.
func (e *edit) dropOutput(code *run) {
	for i, r := range e.runs {
		if r != code {
			continue
		}
		for _, next := range e.runs[i+1:] {
			if next.part.Kind == gatehouse.ToolResult && next.part.Tool == hostedCode {
				e.gone[next] = ""
				return
			}
		}
	}
}

// keepSignature hands the signature of a first call that goes to the first that stays: the API wants one on the first call of a
// turn when it is sent again.
func (e *edit) keepSignature() {
	var signature []byte
	for _, r := range e.runs {
		if r.part.Kind != gatehouse.ToolCall || r.part.Hosted() {
			continue
		}
		if _, gone := e.gone[r]; !gone {
			if signature != nil && r.signature == nil {
				e.signed[r] = signature
			}
			return
		}
		if signature == nil {
			signature = r.signature
		}
	}
}

// narrow finds the one replacement that makes another text of a text that was edited as a whole, so that pieces in which nothing
// changes stay as they are. It never parts the bytes of a character, and begins inside the text.
func narrow(old, now string) gatehouse.Edit {
	from := 0
	for from < len(old) && from < len(now) && old[from] == now[from] {
		from++
	}
	for from > 0 && (from == len(old) || inside(old[from]) || from < len(now) && inside(now[from])) {
		from--
	}
	tail := 0
	for tail < len(old)-from && tail < len(now)-from && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for tail > 0 && inside(old[len(old)-tail]) {
		tail--
	}
	return gatehouse.Edit{Op: gatehouse.Replace, Start: from, End: len(old) - tail, Text: now[from : len(now)-tail]}
}

// inside reports whether a byte goes on with a character.
func inside(c byte) bool { return c&0xC0 == 0x80 }
