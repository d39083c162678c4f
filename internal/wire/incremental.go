package wire

import (
	"errors"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// Incremental is a stream that can be written while it arrives. A stream that is not is held until its end.
type Incremental interface {
	Stream
	// Next writes the events that may leave and have not been written yet, as Bytes would write them. An event may leave
	// when those before it have, when every text in it is free, with the replacements that its part tells
	// ([gatehouse.Part.Changes]), and, unless last is set, when no later decision can change it: a terminal event never
	// can, nor what says why the turn ends, nor a part without text that is not free as [gatehouse.Everything], nor a call that is
	// not at least [gatehouse.Decided].
	// free says by the place of a part in parts how many bytes of its own text are free.
	//
	// With last, everything leaves; parts are then what Bytes takes. An error says that a text was changed that had left.
	Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error)
	// Held is how many bytes of events have come and have not been written.
	Held() int
	// Stop writes events, to stand behind those that Next has written, that end the turn with a text of the gateway's, as a turn
	// that was refused. What is still held is left out.
	Stop(text string) []byte
	// Comments reports whether clients of the format bear comments in a stream.
	Comments() bool
}

// Gate is before the first event of a stream that is held, and opens when all that is in the event is free. What was not free the
// last time is asked about first: an event may hold very much, and is asked about again with each event behind it.
type Gate struct{ at int }

// Open reports whether all of n things are free; it is asked about the same ones until it opens.
func (g *Gate) Open(n int, free func(i int) bool) bool {
	for k := range n {
		if i := (g.at + k) % n; !free(i) {
			g.at = i
			return false
		}
	}
	g.at = 0
	return true
}

// Free is the argument of [Incremental.Next] when everything is.
func Free(int) int { return gatehouse.Everything }

// errSent says that what was sent cannot be changed any more.
var errSent = errors.New("a text was changed after it had been sent")

// Cutter makes the replacements of one part in its text, piece by piece, as it stands in one delta after the other: a
// replacement stands where its first byte stood.
type Cutter struct {
	at    int            // how much of the text has gone by
	until int            // a replacement that has been written reaches to here
	made  int            // how many replacements have been written
	last  gatehouse.Edit // and the last of them
}

// Cut is what becomes of the next piece of the text. Of the replacements, all those must be there that begin in what has gone by.
func (c *Cutter) Cut(piece string, changes []gatehouse.Edit) (string, error) {
	if c.made > 0 && (len(changes) < c.made || changes[c.made-1] != c.last) {
		return "", errSent
	}
	from, end := c.at, c.at+len(piece)
	c.at = end
	if len(changes) == c.made && c.until <= from {
		return piece, nil
	}
	var out strings.Builder
	at := max(from, min(c.until, end))
	for _, e := range changes[c.made:] {
		if e.Start >= end {
			break
		}
		if e.Start < at {
			return "", errSent
		}
		out.WriteString(piece[at-from : e.Start-from])
		out.WriteString(e.Text)
		c.made, c.last, c.until = c.made+1, e, e.End
		at = min(e.End, end)
	}
	out.WriteString(piece[at-from:])
	return out.String(), nil
}

// Pass lets the text go by up to a byte as it is.
func (c *Cutter) Pass(to int) { c.at = max(c.at, to) }

// Said is what of the text has gone by, as it has left.
func (c *Cutter) Said(text string, changes []gatehouse.Edit) string {
	said, err := new(Cutter).Cut(text[:c.at], changes[:min(c.made, len(changes))])
	if err != nil {
		return "" // they were made before, so this does not happen
	}
	return said
}

// Rest are the texts of the replacements that no piece had a place for: those of a text that was empty.
func (c *Cutter) Rest(changes []gatehouse.Edit) string {
	var out strings.Builder
	for _, e := range changes[min(c.made, len(changes)):] {
		out.WriteString(e.Text)
	}
	return out.String()
}

// Changes are the replacements that make of a text what the part says: those that were made, or one of everything.
func Changes(p gatehouse.Part, text, final string) []gatehouse.Edit {
	switch {
	case final == text:
		return nil
	case !p.Removed && p.Edited && p.Was == text:
		return p.Changes()
	}
	return []gatehouse.Edit{{Part: p.ID, Op: gatehouse.Replace, End: len(text), Text: final}}
}
