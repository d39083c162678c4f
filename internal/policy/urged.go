package policy

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Words are what the texts of a conversation ask for; [provenance.Conversation] has them.
type Words interface {
	// Urges are what is asked around a value, at every place where a tool's result holds it; none for a value that the
	// operator or the user has said.
	Urges(value any) []provenance.Urge
	// Wish is what the user and the operator ask for, and how the user does.
	Wish() (deed.Set, deed.Sign)
	// Orders are what tools' results ask of a machine that reads them.
	Orders() []provenance.Urge
}

const (
	maxUrged = 256 // values of one call whose surroundings are looked at
	maxShort = 120 // bytes of a value that is looked for as a whole, whatever it is
)

// errand looks at what the words around the values of a call ask for: whether the user wanted what it does, or the result of a
// tool did.
type errand struct {
	*inquiry
	words   Words
	deeds   deed.Set // what the call does
	unasked bool     // the user has asked for nothing of the kind
	defers  bool     // the user leaves it to another text what is to be done
	left    int
}

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
	e.deeds = deed.OfTool(s.call.Tool)
	asked, how := e.words.Wish()
	e.unasked = e.deeds != 0 && !deed.Covers(asked, e.deeds)
	e.defers = how.Has(deed.Defers)
	if s.call.Freeform {
		if reason := e.list(provenance.Identifiers(s.call.Args), "args.input"); reason != "" {
			return reason, e.found
		}
	} else if reason := e.look(s.root, "args", argument{}); reason != "" {
		return reason, e.found
	}
	return e.ordered(), e.found
}

// look goes through the values of the arguments.
func (e *errand) look(v rawjson.Value, path string, a argument) string {
	switch v.Kind {
	case rawjson.Object:
		for _, m := range v.Members {
			inner := argument{destination: true}
			if !destinations.name(m.Key) {
				inner = argument{a.destination, a.prose || prose.name(m.Key)}
			}
			if reason := e.look(m.Value, path+"."+plainKey(m.Key), inner); reason != "" {
				return reason
			}
		}
	case rawjson.Array:
		for i, one := range v.Elems {
			if reason := e.look(one, fmt.Sprintf("%s[%d]", path, i), a); reason != "" {
				return reason
			}
		}
	case rawjson.String:
		text := v.Text(e.scene.doc)
		if a.prose && e.effect != executes {
			return ""
		}
		if len(text) <= maxShort {
			if reason := e.weigh(text, path); reason != "" {
				return reason
			}
		}
		return e.list(provenance.Identifiers(text), path)
	case rawjson.Number:
		if number := string(v.Raw(e.scene.doc)); len(number) >= minUrged {
			return e.weigh(json.Number(number), path)
		}
	}
	return ""
}

// minUrged is the length of numbers that are looked at: shorter ones stand everywhere.
const minUrged = 4

func (e *errand) list(all []string, path string) string {
	for _, one := range all {
		if reason := e.weigh(one, path); reason != "" {
			return reason
		}
	}
	return ""
}

// weigh judges one value by the words around it.
func (e *errand) weigh(value any, path string) string {
	text, isText := value.(string)
	if e.effect == reads && (!isText || provenance.ShapeOf(text) != provenance.URL) {
		return ""
	}
	if e.left--; e.left < 0 {
		return ""
	}
	var o *Origin
	for _, u := range e.words.Urges(value) {
		why := e.reason(u)
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

// reason says why the words around a value make it one that is not to be trusted; empty when they do not.
func (e *errand) reason(u provenance.Urge) string {
	asks := u.Deeds.Has(deed.Kin(e.deeds)) || e.deeds == 0 && u.Deeds != 0
	switch {
	case u.Signs.Has(deed.Addressed) && u.Deeds != 0:
		return ", in words addressed to an assistant"
	case e.effect == reads:
		return ""
	case u.Signs.Has(deed.Secret) && asks:
		return ", in words that the user shall not be told of"
	case u.Signs.Has(deed.Meddling) && u.Signs.Has(deed.Perhaps|deed.Aimed) && asks:
		return ", in words about what the assistant does for the user"
	case e.unasked && asks && u.Signs.Has(deed.Aimed|deed.Perhaps):
		return ", in words addressed to whoever reads it with a program; the user did not ask for this"
	case e.unasked && asks && !e.defers:
		return " that asks for this itself; the user did not"
	}
	return ""
}

// ordered says whether a result asks a machine for what the call does and the user did not ask for; its arguments are the model's
// own words.
func (e *errand) ordered() string {
	if e.effect == reads || !e.unasked {
		return ""
	}
	for _, u := range e.words.Orders() {
		if u.Deeds.Has(e.deeds) {
			e.found = Blame{}
			return "a result of " + plainTool(u.Tool) + " asks for this in words addressed to an assistant; the user did not"
		}
	}
	return ""
}

var _ Words = (*provenance.Conversation)(nil)
