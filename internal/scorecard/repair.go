package scorecard

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

// notice stands where something was cut out. The gateway's own words differ; nothing that is counted depends on them.
const notice = "[removed: suspected injection]"

// repair is what cutting the findings out of a poisoned tool result comes to, in characters.
type repair struct {
	payload, cut int // of the payload, and of it what is gone
	rest, kept   int // of everything else, and of it what is left
	detected     bool
	withheld     bool // nothing but payload was left, so that the whole went
	json, html   form
}

// form is a format that a text may have before it is cut and after.
type form struct{ before, after bool }

// repaired cuts the injection findings from score warn up out of a text as the front checkpoint does with tool results: through
// [redact.Edits], and the whole where [redact.Whole] says that nothing else is left.
func repaired(row Row, r detect.Result, warn float64) repair {
	text := row.Text.Text
	var found []gatehouse.Finding
	for _, f := range r.Findings {
		if f.Kind == "injection" && f.Score >= warn {
			found = append(found, f)
		}
	}
	edits := redact.Edits(text, found, func(gatehouse.Finding) string { return notice })
	out := repair{detected: len(found) > 0}
	if out.withheld = redact.Whole(text, edits); out.withheld {
		edits = []gatehouse.Edit{{Op: gatehouse.Replace, End: len(text), Text: notice}}
	}
	out.count(text, row.Payload, edits)
	if len(edits) == 0 || out.withheld {
		return out
	}
	after := gatehouse.Splice(text, edits)
	if out.json.before = isJSON(text); out.json.before {
		out.json.after = isJSON(after)
	}
	if !out.json.before && marked(text, row.Payload) {
		had, _ := balance(text)
		has, _ := balance(after)
		out.html = form{true, has <= had}
	}
	return out
}

// marked reports whether a text has tags that are not the payload's own.
func marked(text string, payload []Span) bool {
	gone := make([]gatehouse.Edit, 0, len(payload))
	for _, s := range payload {
		gone = append(gone, gatehouse.Edit{Op: gatehouse.Replace, Start: s.Start, End: s.End})
	}
	_, pairs := balance(gatehouse.Splice(text, gone))
	return pairs > 0
}

// isJSON reports whether a text is a JSON object, list or string.
func isJSON(text string) bool {
	start := strings.TrimLeft(text, " \t\r\n")
	return start != "" && strings.IndexByte(`{["`, start[0]) >= 0 && json.Valid([]byte(text))
}

// count goes through the characters of a text. Payload and edits are in order and apart.
func (r *repair) count(text string, payload []Span, edits []gatehouse.Edit) {
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		for len(payload) > 0 && payload[0].End <= i {
			payload = payload[1:]
		}
		for len(edits) > 0 && edits[0].End <= i {
			edits = edits[1:]
		}
		gone := len(edits) > 0 && edits[0].Start <= i
		if len(payload) > 0 && payload[0].Start <= i {
			r.payload++
			if gone {
				r.cut++
			}
		} else {
			r.rest++
			if !gone {
				r.kept++
			}
		}
		i += size
	}
}
