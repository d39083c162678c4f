package policy

import (
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
)

// Words are what the texts of a conversation ask for; [provenance.Conversation] has them.
type Words interface {
	// Urges are what is asked around a value, at every place where a tool's result holds it; none for a value that the
	// operator or the user has said.
	Urges(value any) []provenance.Urge
	// Wish is what the user and the operator ask for.
	Wish() provenance.Wish
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
	known   bool     // something that the user said is known; else nobody can say what he did not ask for
	wanted  deed.Set // what the user and the operator speak of
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
	w := e.words.Wish()
	asked, how, operator := w.Deeds, w.Signs, w.Operator
	e.known, e.wanted = w.Known, asked|operator
	e.grave = e.known && e.deeds.Has(deed.Grave) && asked.Has(deed.Acts)
	e.defers = how.Has(deed.Defers)
	e.runs = asked.Has(deed.Run) || !e.known
	e.names = how.Has(deed.Names)
	e.looks = how.Has(deed.Asks) && !asked.Has(deed.Acts)
	e.unasked = e.known && (e.deeds != 0 && !e.covered() || e.looks)
	e.local = !e.unasked && asked.Has(deed.Work&^deed.Visit) && e.deeds != 0 && e.deeds&^deed.Work == 0
	e.speaks = how.Has(deed.Addressed)
	e.expects = e.defers && e.speaks
	e.named = e.known && compound(e.scene.call.Tool) && len(e.words.Urges(e.scene.call.Tool)) > 0
}

// covered reports whether the user or the operator speaks of what the call does. A tool whose name says no more than how it does it
// may do anything.
func (e *errand) covered() bool {
	return deed.Covers(e.wanted, e.deeds) || e.wanted.Has(deed.Acts) && generic(e.scene.call.Tool)
}

// generic reports whether the name of a tool says that it calls an address, as http_post does.
func generic(tool string) bool {
	return slices.ContainsFunc(leafSegments(tool), carriers.hold)
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
