package checkpoint

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// utterance is one text of the answer, lower-case, and what it names.
type utterance struct {
	part  *gatehouse.Part
	text  string
	name  bool // it is the name of the tool that is called
	exact bool // offsets are those of the part's text
	warns bool // it speaks of an attack somewhere
	seen  []sighting
}

// answered are the texts of the answer. Of a call they are its name and the values of its arguments. What they name is
// looked for when there is something to compare it with.
func (l look) answered(naming bool) []utterance {
	var out []utterance
	for i := range l.x.Response {
		p := &l.x.Response[i]
		switch {
		case p.Removed || p.Inserted || !naming && p.Kind != gatehouse.Reasoning:
		case p.Kind == gatehouse.Text, p.Kind == gatehouse.Reasoning:
			u := utterance{part: p, text: lowered(p.Text), exact: true}
			if naming {
				u.seen = sightings(p.Text)
			}
			out = append(out, u)
		case p.Kind == gatehouse.ToolCall:
			name := lowered(p.Tool)
			out = append(out, utterance{part: p, text: name, name: true, seen: []sighting{{anchor: anchor{anchorTool, name}, end: len(name)}}})
			for _, v := range values(p) {
				out = append(out, utterance{part: p, text: lowered(v), seen: sightings(v)})
			}
		}
	}
	return out
}

// values are the texts and numbers in the arguments of a call, unescaped; the arguments themselves where they are no JSON.
func values(p *gatehouse.Part) []string {
	d := json.NewDecoder(strings.NewReader(p.Text))
	d.UseNumber()
	var out []string
	for p.Media != "freeform" {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			break
		}
		switch t := t.(type) {
		case string:
			out = append(out, readable(t, t))
		case json.Number:
			out = append(out, t.String())
		}
	}
	return []string{readable(p.Text, p.Text)}
}
