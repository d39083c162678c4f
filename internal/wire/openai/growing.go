package openai

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// growing is a part that arrives in pieces.
type growing struct {
	place  int // in stream.parts
	part   gatehouse.Part
	text   strings.Builder
	id     int // the sink's
	member string
	index  int  // of a call, as the provider counts
	next   bool // its index is the number of the calls before it
	sent   bool // it has begun to leave
	closed bool
	copy   bool     // a function_call that is no part of its own as long as it says what its twin says
	twin   *growing // the call in tool_calls; its place is the copy's too
	same   int      // the bytes that are known to be equal in both
}

// streamed is one choice of a stream.
type streamed struct {
	index  int
	parts  []*growing
	calls  int      // how many there are in tool_calls
	last   *growing // the call in tool_calls that came last
	legacy *growing // the function_call
	first  int      // the event that the choice came in first
	name   string   // of that event
	doc    []byte   // its chunk
	finish int      // the event with its finish reason; -1 when there was none
}

// text adds a delta to the part of its member. An empty one opens none.
func (s *stream) text(into *streamed, i item, doc []byte) *growing {
	delta := i.at.Text(doc)
	g := into.part(i)
	if g == nil {
		if delta == "" && i.kind != gatehouse.Opaque {
			return nil
		}
		g = s.open(into, i.member, gatehouse.Part{Kind: i.kind, Path: i.path, Media: i.media})
	}
	s.grow(g, delta)
	return g
}

// part finds the part that an item belongs to.
func (c *streamed) part(i item) *growing {
	for _, g := range c.parts {
		if g.part.Kind == i.kind && g.member == i.member && g.part.Media == i.media {
			return g
		}
	}
	return nil
}

func (s *stream) call(into *streamed, piece call, doc []byte) (*growing, error) {
	g, at, err := into.call(piece, doc)
	if err != nil {
		return nil, err
	}
	if g == nil {
		if piece.tool == "" {
			return nil, wire.Wrong(piece.path, "behind the name of its tool") // else no gate could judge it
		}
		p := gatehouse.Part{Kind: gatehouse.ToolCall, Path: piece.path, Media: piece.media, Tool: piece.tool, CallID: piece.id}
		g = s.newCall(into, piece.member, p)
		g.index, g.next = at, at == into.calls || piece.member == "function_call"
		if piece.member == "tool_calls" {
			into.calls++
		}
	}
	// Clients join the pieces of a call, or let the last one win. What could be read both ways is not judged but refused.
	if piece.tool != "" && piece.tool != g.part.Tool || piece.id != "" && piece.id != g.part.CallID ||
		piece.at.Exists() && piece.media != g.part.Media {
		return nil, wire.Wrong(piece.path, "of the call that began at its index")
	}
	s.grow(g, piece.at.Text(doc))
	return g, nil
}

func (s *stream) newCall(into *streamed, member string, p gatehouse.Part) *growing {
	if member == "function_call" {
		into.legacy = into.begin(member, p)
		into.legacy.copy = true
		return into.legacy
	}
	if into.last != nil {
		s.close(into.last)
	}
	into.last = s.open(into, member, p)
	return into.last
}

// call finds the call that a piece belongs to, nil for a new one, and the index that it has. A piece without an index
// goes on with the last call, unless it has another id.
func (c *streamed) call(piece call, doc []byte) (g *growing, at int, err error) {
	given := piece.elem.Get("index")
	n, ok := given.Int(doc)
	switch {
	case piece.member == "function_call":
		return c.legacy, 0, nil
	case !given.Exists():
		if c.last != nil && (piece.id == "" || piece.id == c.last.part.CallID) {
			return c.last, 0, nil
		}
		for _, g := range c.parts {
			if g.member == piece.member {
				at = max(at, g.index+1)
			}
		}
		if at > maxIndex {
			return nil, 0, wire.Wrong(piece.path, "one of fewer calls")
		}
		return nil, at, nil
	case !ok || n < 0 || n > maxIndex:
		return nil, 0, wire.Wrong(piece.path, "at an index that is a small integer")
	}
	for _, g := range c.parts {
		if g.member == piece.member && g.index == int(n) {
			return g, int(n), nil
		}
	}
	return nil, int(n), nil
}

func (s *stream) open(into *streamed, member string, p gatehouse.Part) *growing {
	g := into.begin(member, p)
	s.show(g)
	return g
}

func (c *streamed) begin(member string, p gatehouse.Part) *growing {
	p.Role, p.Choice = gatehouse.Assistant, c.index
	g := &growing{part: p, member: member}
	c.parts = append(c.parts, g)
	return g
}

// show makes it a part that the checkpoints see.
func (s *stream) show(g *growing) {
	g.place, g.id = len(s.parts), s.to.Open(g.part)
	s.parts = append(s.parts, g)
}

func (s *stream) grow(g *growing, delta string) {
	if delta == "" {
		return
	}
	g.text.WriteString(delta)
	if !g.copy {
		g.closed = false
		s.to.Text(g.id, delta)
	}
}

func (s *stream) close(g *growing) {
	if !g.closed && !g.copy {
		g.closed = true
		s.to.Close(g.id)
	}
}

// pair opens the function_call as a part of its own, unless it has brought to the letter what a call in tool_calls has
// brought: servers send both, for clients of either age. It is asked after every chunk, as a stream may be cut behind it
// and nothing may leave that no part holds.
func (s *stream) pair(into *streamed) {
	g := into.legacy
	if g == nil || !g.copy {
		return
	}
	if g.twin == nil {
		for _, twin := range into.parts {
			if g.repeats(twin) {
				g.twin, g.place = twin, twin.place
				break
			}
		}
	}
	if text := g.text.String(); g.twin == nil || text[g.same:] != g.twin.text.String()[g.same:] {
		g.copy = false
		s.show(g)
		if text != "" {
			s.to.Text(g.id, text)
		}
	}
	g.same = g.text.Len()
}

// repeats reports whether g is a function_call that says what the call in tool_calls says.
func (g *growing) repeats(call *growing) bool {
	return g.member == "function_call" && call.member == "tool_calls" && call.part.Media == "" &&
		g.part.Tool == call.part.Tool && g.text.String() == call.text.String()
}
