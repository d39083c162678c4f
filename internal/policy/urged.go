package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

const (
	maxUrged = 4096 // values of one call whose surroundings are looked at
	maxShort = 120  // bytes of a value that is looked for as a whole, whatever it is
)

// urged says which argument of a call comes from words that ask for the call where the user did not, or that no honest text
// would hold; empty when none does.
func (s *scene) urged() (string, Blame) {
	if s.call.Words == nil {
		return "", Blame{}
	}
	e := &errand{inquiry: &inquiry{scene: s, effect: effectOf(s.call.Tool)}, words: s.call.Words, left: maxUrged}
	if e.effect == reads && !s.call.Freeform && e.sends() {
		e.effect = acts
	} else if e.effect == acts && deed.Looks(s.call.Tool) {
		e.effect = reads
	}
	if s.call.Freeform {
		for _, one := range provenance.Identifiers(s.call.Args) {
			if reason := e.weigh(one, "args.input"); reason != "" {
				return reason, e.found
			}
		}
	} else if reason := walk(s.root, "args", argument{}, e.look); reason != "" {
		return reason, e.found
	}
	return e.ordered(), e.found
}

// look looks at a text or a number of the arguments.
func (e *errand) look(v rawjson.Value, path string, a argument) string {
	if v.Kind == rawjson.Number {
		if number := string(v.Raw(e.scene.doc)); len(number) >= minUrged {
			return e.weigh(json.Number(number), path)
		}
		return ""
	}
	text := v.Text(e.scene.doc)
	if a.prose && e.effect != executes {
		return e.quoted(text, path)
	}
	if len(text) <= maxShort || provenance.ShapeOf(text) == provenance.URL {
		if reason := e.weigh(text, path); reason != "" {
			return reason
		}
	}
	for _, one := range provenance.Identifiers(text) {
		if one == text {
			continue
		}
		if reason := e.weigh(one, path); reason != "" {
			return reason
		}
	}
	if len(text) > maxShort {
		return e.quoted(text, path)
	}
	return ""
}

// minUrged is the length of numbers that are looked at: shorter ones stand everywhere.
const minUrged = 4

// quoted looks for accounts and links in what people will read: they pay to them, and follow them. Only what no honest text would
// hold counts.
func (e *errand) quoted(text, path string) string {
	list := provenance.Accounts(text)
	for _, one := range provenance.Identifiers(text) {
		if provenance.ShapeOf(one) == provenance.URL {
			list = append(list, one)
		}
	}
	list = append(list, provenance.Links(text)...)
	for _, one := range list[:min(len(list), maxUrged)] {
		for _, u := range e.words.Urges(one) {
			if u.Signs.Has(deed.Addressed|deed.Hidden|deed.Blank) || u.Signs.Has(deed.Secret) && u.Signs.Has(deed.Perhaps|deed.Aimed) {
				if reason := e.weigh(one, path); reason != "" {
					return reason
				}
				break
			}
		}
	}
	return ""
}

// carries reports whether an address that a result names bears what another one says.
func (e *errand) carries(address string, u provenance.Urge) bool {
	_, rest, _ := strings.Cut(address, "://")
	_, rest, _ = strings.Cut(rest, "/")
	for piece := range strings.FieldsFuncSeq(rest, func(c rune) bool { return strings.ContainsRune("/?&=;,|", c) }) {
		if e.left--; e.left < 0 {
			return true
		}
		if o := e.scene.call.Origin(piece); o.Source == ToolResult && !o.Partly && o.At != u.At {
			return true
		}
	}
	return false
}

// weigh judges one value by the words around it.
func (e *errand) weigh(value any, path string) string {
	text, isText := value.(string)
	if e.effect == reads && (!isText || provenance.ShapeOf(text) != provenance.URL) {
		return ""
	}
	if e.left--; e.left < 0 {
		return path + ": there are too many values to say who asks for them"
	}
	e.learn()
	var o *Origin
	for _, u := range e.words.Urges(value) {
		why := e.reason(u, fmt.Sprint(value))
		if why == "" && provenance.ShapeOf(text) == provenance.URL && u.Signs.Has(deed.Blank) && (e.effect != reads || !e.defers) && e.carries(text, u) {
			why = ", which leaves blanks for what another result says"
		}
		if why == "" {
			continue
		}
		if o == nil {
			one := e.scene.call.Origin(value)
			o = &one
		}
		if e.effect == reads && !o.Partly {
			return ""
		}
		e.found = Blame{Argument: path, Value: fmt.Sprint(value), Origin: Origin{Source: ToolResult, Tool: u.Tool, Tainted: o.Tainted, Partly: o.Partly, At: u.At}}
		return path + " first appeared in a result of " + plainTool(u.Tool) + why
	}
	return ""
}
