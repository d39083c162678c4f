package provenance

import (
	"cmp"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
)

// Urge is what the words around a value ask for where a tool's result holds it.
type Urge struct {
	Deeds deed.Set
	Signs deed.Sign
	Tool  string // the result's
	At    int    // the [Said.At] of the result
}

// maxUrges bounds how many places of one value are looked at.
const maxUrges = 256

// minLoose is how long a value must be that is also found with an ending, in bytes: languages put some behind numbers and names.
const minLoose = 9

// Urges are what is asked around a value, at every place where a tool's result holds it; none for a value that the operator or
// the user has said, or nobody. [deed.Hidden] and [deed.Prose] are there only if they are at every place.
func (c *Conversation) Urges(value any) []Urge {
	text, ok := wording(value)
	if !ok {
		return nil
	}
	x := c.read()
	x.pass()
	var places []int32
	own := false
	x.seen = func(said, place int32) {
		if x.rank(said) < 2 {
			own = true
		} else if x.said[said].Source == ToolResult && len(places) < maxUrges {
			places = append(places, place)
		}
	}
	c.trace(text)
	if len(places) == 0 && !own && len(text) >= minLoose {
		x.loose = true
		c.trace(text)
		x.loose = false
	}
	x.seen = nil
	if own {
		return nil
	}
	var out []Urge
	everywhere := deed.Hidden | deed.Prose
	for _, place := range places {
		u, ok := x.urge(place)
		everywhere &= u.Signs
		if ok && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	for i := range out {
		out[i].Signs &^= (deed.Hidden | deed.Prose) &^ everywhere
	}
	return out
}

// Wish is what is asked for by those who may.
type Wish struct {
	Deeds    deed.Set  // of the user's
	Signs    deed.Sign // how the user asks
	Operator deed.Set  // the deeds that the operator speaks of
	Known    bool      // a text of the user's is known at all
}

// Wish is what the user and the operator ask for.
func (c *Conversation) Wish() Wish {
	x := c.read()
	x.pass()
	w := Wish{Known: x.missed || slices.ContainsFunc(x.said, func(s Said) bool { return s.Source == User })}
	for _, p := range x.spans {
		switch s := x.said[x.saidAt(p.place)]; {
		case s.Tainted:
		case s.Source == System:
			w.Operator |= p.deeds
		case s.Source == User:
			w.Deeds, w.Signs = w.Deeds|p.deeds, w.Signs|p.signs
		}
	}
	return w
}

// Orders are what results ask of a machine that reads them, wherever they do.
func (c *Conversation) Orders() []Urge {
	x := c.read()
	x.pass()
	var out []Urge
	for _, p := range x.spans {
		s := x.said[x.saidAt(p.place)]
		u := Urge{p.deeds, p.signs, s.Tool, s.At}
		if s.Source == ToolResult && p.signs.Has(deed.Addressed) && p.deeds != 0 && !slices.Contains(out, u) && len(out) < maxUrges {
			out = append(out, u)
		}
	}
	return out
}

// span is a passage from one token up to the next span.
type span struct {
	place int32
	deeds deed.Set
	signs deed.Sign
}

// passages calls out the passages of the text that was read last, by its words; what lies between them is empty.
func (t *tokens) passages(hidden bool, each func(span)) {
	out := each
	if hidden {
		out = func(s span) { s.signs |= deed.Hidden; each(s) }
	}
	at := 0
	place := func(offset int) int32 {
		for at < len(t.list) && t.list[at].at < offset {
			at++
		}
		if at == len(t.list) {
			return t.count
		}
		return t.list[at].place
	}
	end := int32(0)
	for _, p := range deed.Read(t.text) {
		from := place(p.Start)
		if from > end || end == 0 {
			out(span{place: end})
		}
		out(span{from, p.Deeds, p.Signs})
		end = place(p.End)
	}
	out(span{place: end})
}

// unread is a text of the index whose passages were not asked for yet.
type unread struct {
	text  string
	begin int32
	hide  bool // the text shows it to nobody
}

// pass works out the passages, once.
func (x *index) pass() {
	for _, u := range x.unread {
		x.scan.read(u.text)
		x.scan.passages(u.hide, func(s span) {
			s.place += u.begin
			x.spans = append(x.spans, s)
		})
	}
	if x.unread != nil {
		x.unread = nil
		slices.SortStableFunc(x.spans, func(a, b span) int { return cmp.Compare(a.place, b.place) })
	}
}

// urge is the passage that holds a token.
func (x *index) urge(place int32) (Urge, bool) {
	i, _ := slices.BinarySearchFunc(x.spans, place+1, func(s span, at int32) int { return cmp.Compare(s.place, at) })
	if i == 0 || x.spans[i-1].deeds == 0 && x.spans[i-1].signs == 0 {
		return Urge{}, false
	}
	p, s := x.spans[i-1], x.said[x.saidAt(place)]
	return Urge{p.deeds, p.signs, s.Tool, s.At}, true
}

// saidAt is the text that a token is of.
func (x *index) saidAt(place int32) int32 {
	at, _ := slices.BinarySearchFunc(x.begins, place+1, cmp.Compare[int32])
	return int32(at) - 1
}
