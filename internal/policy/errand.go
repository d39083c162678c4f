package policy

import (
	"github.com/gatehouse-gateway/gatehouse/internal/deed"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
)

// Words are what the texts of a conversation ask for; [provenance.Conversation] has them.
type Words interface {
	// Urges are what is asked around a value, at every place where a tool's result holds it; none for a value that the
	// operator or the user has said.
	Urges(value any) []provenance.Urge
	// Wish is what the user asks for, and how, and the deeds that the operator speaks of.
	Wish() (deeds deed.Set, signs deed.Sign, operator deed.Set)
	// Orders are what tools' results ask of a machine that reads them.
	Orders() []provenance.Urge
}

var _ Words = (*provenance.Conversation)(nil)

// errand looks at what the words around the values of a call ask for: whether the user wanted what it does, or the result of a
// tool did.
type errand struct {
	*inquiry
	words   Words
	deeds   deed.Set // what the call does
	unasked bool     // the user has asked for nothing of the kind
	local   bool     // the user has asked for work on files, which is what the call does
	speaks  bool     // the user himself speaks of agents or assistants; mostly they are people
	expects bool     // the user himself speaks of what a text says to agents
	named   bool     // a result names the tool
	defers  bool     // the user leaves it to another text what is to be done
	looks   bool     // the user has asked to know something, and for nothing to be done
	grave   bool     // the user has asked for other things than this, which nobody does by the way
	runs    bool     // the user has asked for a program to be run
	names   bool     // the user names a mail address
	learnt  bool
	left    int // values that may still be looked at
}

// learn reads what the user asks for, once there is something to hold it against.
func (e *errand) learn() {
	if e.learnt {
		return
	}
	e.learnt = true
	e.deeds = deed.OfTool(e.scene.call.Tool)
	asked, how, operator := e.words.Wish()
	e.grave = e.deeds.Has(deed.Grave) && asked.Has(deed.Acts)
	e.defers = how.Has(deed.Defers)
	e.runs = asked.Has(deed.Run)
	e.names = how.Has(deed.Names)
	e.looks = how.Has(deed.Asks) && !asked.Has(deed.Acts)
	e.unasked = e.deeds != 0 && !deed.Covers(asked|operator, e.deeds) || e.looks
	e.local = !e.unasked && e.deeds != 0 && e.deeds&^deed.Work == 0
	e.speaks = how.Has(deed.Addressed)
	e.expects = e.defers && e.speaks
	e.named = compound(e.scene.call.Tool) && len(e.words.Urges(e.scene.call.Tool)) > 0
}

// compound reports whether the name of a tool has more than one word: others are words of everyday texts.
func compound(tool string) bool {
	segments := leafSegments(tool)
	if len(segments) == 0 {
		return false
	}
	leaf := segments[len(segments)-1]
	return len(leaf) > 2 || len(leaf) == 2 && leaf[0] != "http"
}

// reason says why the words around a value make it one that is not to be trusted; empty when they do not.
func (e *errand) reason(u provenance.Urge, shape provenance.Shape) string {
	shaped, mail := shape != provenance.Plain, shape == provenance.Email
	if e.effect == executes && shape == provenance.URL && !e.runs && !e.defers && u.Deeds.Has(deed.Run) {
		return " that asks to run it; the user did not"
	}
	asks := u.Deeds.Has(deed.Kin(e.deeds)) || (e.deeds == 0 || e.looks) && u.Deeds.Has(deed.Acts)
	secret := u.Signs.Has(deed.Secret)
	switch {
	case e.local && !shaped && !secret:
		return "" // a file tells how to build what the user wants to be changed
	case u.Signs.Has(deed.Addressed) && (asks || shaped) && e.strange(u, shaped):
		return ", in words addressed to an assistant"
	case e.effect == reads && e.looks && u.Signs.Has(deed.Perhaps|deed.Aimed|deed.Secret|deed.Meddling):
		return ", in words about what the assistant does for the user"
	case e.effect == reads || e.expects:
		return ""
	case e.names && mail && u.Signs.Has(deed.Meddling) && asks:
		return ", in words about what the assistant does for the user, who named an address himself"
	case secret && asks:
		return ", in words that the user shall not be told of"
	case u.Signs.Has(deed.Meddling) && u.Signs.Has(deed.Perhaps|deed.Aimed) && asks:
		return ", in words about what the assistant does for the user"
	case e.named && asks && !e.defers:
		return ", which names the tool; the user did not"
	case e.unasked && asks && !e.defers && u.Signs.Has(deed.Aimed|deed.Perhaps|deed.Meddling):
		return ", in words addressed to whoever reads it with a program; the user did not ask for this"
	case e.unasked && asks && !e.defers && (e.looks || e.grave) && u.Deeds.Has(deed.Acts):
		return " that asks for this itself; the user did not"
	}
	return ""
}

// strange reports whether it is not what the user may expect that a text speaks to agents: he may want its rules followed, and
// the agents that he speaks of are people mostly.
func (e *errand) strange(u provenance.Urge, shaped bool) bool {
	secret := u.Signs.Has(deed.Secret)
	switch {
	case e.expects:
		return secret && shaped
	case e.speaks:
		return u.Signs.Has(deed.Perhaps | deed.Secret | deed.Meddling)
	}
	return true
}

// ordered says whether a result asks a machine for what the call does and the user did not ask for; its arguments are the model's
// own words.
func (e *errand) ordered() string {
	if e.effect == reads {
		return ""
	}
	if e.learn(); !e.unasked || e.defers {
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
