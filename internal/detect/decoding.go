package detect

import "slices"

// decoding builds a decoded text.
type decoding struct {
	text     []byte
	segments []segment
}

// exact adds a part of the text as it is.
func (g *decoding) exact(text string, from, to int) {
	if k := len(g.segments) - 1; k < 0 || !g.segments[k].exact || g.segments[k].to != from {
		g.segments = append(g.segments, segment{len(g.text), from, to, true})
	} else {
		g.segments[k].to = to
	}
	g.text = append(g.text, text[from:to]...)
}

// solid adds what a part of the text stands for.
func (g *decoding) solid(text string, from, to int) {
	if text != "" {
		g.segments = append(g.segments, segment{len(g.text), from, to, false})
		g.text = append(g.text, text...)
	}
}

// append adds another decoded text, on a line of its own.
func (g *decoding) append(more decoding) {
	if len(g.text) > 0 {
		end := g.segments[len(g.segments)-1].to
		g.solid("\n", end, end)
	}
	at := len(g.text)
	for _, s := range more.segments {
		s.at += at
		g.segments = append(g.segments, s)
	}
	g.text = append(g.text, more.text...)
}

// group is what was decoded in one way. It is read as one text: a thousand short ones would take longer.
type group struct {
	how  string
	json bool
	decoding
}

// whole adds what a part of the text was decoded to as a whole.
func (d *deriver) whole(how, text string, from, to int) {
	d.add(how, decoding{[]byte(text), []segment{{0, from, to, false}}})
}

// add adds a text that was decoded from the one without escapes.
func (d *deriver) add(how string, g decoding) {
	if places := d.plain.origin; places != nil {
		for i := range g.segments {
			s := &g.segments[i]
			size := s.to - s.from
			s.from, s.to = int(places[s.from]), int(places[s.to])
			s.exact = s.exact && s.to-s.from == size
		}
	}
	d.put(group{how, looksLikeJSON(string(g.text[:min(len(g.text), jsonProbe)])), g})
}

// jsonProbe is how much of a decoded text is looked at to see whether it is JSON.
const jsonProbe = 64

// blank is an empty decoding, in the memory of the last that was left in spare.
func (d *deriver) blank() decoding { return decoding{d.spare.text[:0], d.spare.segments[:0]} }

// put adds a copy to a group, while there is room.
func (d *deriver) put(g group) {
	if len(g.text) == 0 || len(g.text)+1 > *d.room {
		return
	}
	*d.room -= len(g.text) + 1
	for i := range d.groups {
		if d.groups[i].how == g.how && d.groups[i].json == g.json {
			d.groups[i].append(g.decoding)
			return
		}
	}
	d.groups = append(d.groups, group{g.how, g.json, decoding{slices.Clone(g.text), slices.Clone(g.segments)}})
}

// views are the groups as readings.
func (d *deriver) views() []*Normalized {
	all := make([]*Normalized, len(d.groups))
	for i, g := range d.groups {
		n := normalise(string(g.text), g.json)
		n.how, n.depth, n.segments, n.parent = g.how, d.n.depth+1, g.segments, d.n
		all[i] = n
	}
	return all
}
