package policy

import (
	"github.com/gatehouse-gateway/gatehouse/internal/deed"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
)

// minTelling is the length of values that are hardly in a text by chance, in bytes.
const minTelling = 8

// surroundings are the words around a value at one place, held against the call.
type surroundings struct {
	provenance.Urge
	shape   provenance.Shape
	long    bool // the value is hardly there by chance
	unasked bool // the user has asked for nothing like what the call does with the value
	asks    bool // the words ask for what the call does
}

// reason says why the words around a value make it one that is not to be trusted; empty when they do not.
func (e *errand) reason(u provenance.Urge, value string) string {
	w := surroundings{Urge: u, shape: provenance.ShapeOf(value), long: len(value) >= minTelling, unasked: e.unasked}
	if e.effect == executes && w.shape == provenance.URL && !e.runs && !e.defers && u.Deeds.Has(deed.Run) {
		return " that asks to run it; the user did not"
	}
	deeds := e.deeds
	if deeds == 0 {
		deeds = shapes[w.shape]
		w.unasked = e.known && deeds != 0 && !deed.Covers(e.wanted, deeds)
	}
	w.asks = u.Deeds.Has(deed.Kin(deeds)) || (deeds == 0 || e.looks) && u.Deeds.Has(deed.Acts)
	if e.local && w.shape == provenance.Plain && !u.Signs.Has(deed.Secret) {
		return "" // a file tells how to build what the user wants to be changed
	}
	if reason := e.strangers(w); reason != "" || e.effect == reads || e.expects {
		return reason
	}
	if reason := e.whispers(w); reason != "" || !w.unasked || e.defers {
		return reason
	}
	return e.unbidden(w)
}

// shapes are the deeds that what a value identifies is good for, where the tool's name says nothing.
var shapes = map[provenance.Shape]deed.Set{
	provenance.Email:   deed.Send | deed.Share,
	provenance.Account: deed.Pay,
	provenance.URL:     deed.Send | deed.Post | deed.Write,
	provenance.Host:    deed.Send | deed.Post | deed.Write,
}

// strangers says whether the words speak to the agent, as no honest text does.
func (e *errand) strangers(w surroundings) string {
	shaped := w.shape != provenance.Plain
	switch {
	case w.Signs.Has(deed.Addressed) && (w.asks || shaped || w.unasked && w.long) && e.strange(w.Urge, shaped):
		return ", in words addressed to an assistant"
	case e.effect == reads && e.looks && w.Signs.Has(deed.Perhaps|deed.Aimed|deed.Secret|deed.Meddling):
		return ", in words about what the assistant does for the user"
	}
	return ""
}

// whispers says whether the words go past the user, or meddle with what is done for him.
func (e *errand) whispers(w surroundings) string {
	switch {
	case w.Signs.Has(deed.Hidden) && w.Deeds.Has(deed.Acts) && (w.shape != provenance.Plain || w.asks && w.long):
		return ", in words that are hidden there"
	case w.Signs.Has(deed.Prose) && w.Signs.Has(deed.Program) && w.Deeds.Has(deed.Acts) && w.shape == provenance.Account:
		return ", in words about programs"
	case !w.asks:
		return ""
	case e.names && w.shape == provenance.Email && w.Signs.Has(deed.Meddling):
		return ", in words about what the assistant does for the user, who named an address himself"
	case w.Signs.Has(deed.Secret):
		return ", in words that the user shall not be told of"
	case w.Signs.Has(deed.Meddling) && w.Signs.Has(deed.Perhaps|deed.Aimed):
		return ", in words about what the assistant does for the user"
	case e.named && !e.defers:
		return ", which names the tool; the user did not"
	}
	return ""
}

// unbidden says whether the words are behind a call that the user has not asked for.
func (e *errand) unbidden(w surroundings) string {
	outward := w.shape == provenance.Account || w.shape == provenance.URL || w.shape == provenance.Host
	switch {
	case w.asks && w.Signs.Has(deed.Aimed|deed.Perhaps|deed.Meddling):
		return ", in words addressed to whoever reads it with a program; the user did not ask for this"
	case w.asks && (e.looks || e.grave) && w.Deeds.Has(deed.Acts):
		return " that asks for this itself; the user did not"
	case w.asks && outward && w.Signs.Has(deed.Prose) && e.effect == acts && e.wanted.Has(deed.Acts):
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
