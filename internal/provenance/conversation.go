package provenance

import (
	"encoding/json"
	"strings"
)

// Said is one text of a conversation.
type Said struct {
	Source  Source // System, User, Model or ToolResult
	Tool    string // of a tool result: the tool's name
	Tainted bool   // it held an injection; what a user says there is not taken for the user's word
	At      int    // where the caller finds it again; not 0

	Text string // UTF-8
	// Trace stands in place of the text where only that is kept: its [Trace] under the conversation's key.
	Trace []byte
}

// Lost says what was said and is not known any more.
type Lost struct {
	Some    bool
	Tainted bool // one of those texts held an injection
}

// Conversation answers where values came from. It reads its texts when it is first asked. One goroutine uses it at a time.
type Conversation struct {
	key   *Key // nil: there are no traces
	said  []Said
	lost  Lost
	index *index
	known map[string]Origin
}

// New is the conversation of these texts, in their order.
func New(said []Said) *Conversation {
	return &Conversation{said: said, known: map[string]Origin{}}
}

// NewTraced is a conversation of which some texts are traces under this key, and some may be lost.
func NewTraced(key Key, said []Said, lost Lost) *Conversation {
	c := New(said)
	c.key, c.lost = &key, lost
	return c
}

// Origin says where a value came from: a string, a [json.Number], or anything else, which says nothing and is the model's.
// What the operator or the user said counts before all else; of the others, whoever said it first. A value that nobody said as
// a whole comes from where its nearest part does, and a text with several addresses in it from where the worst one does. A
// value that is so short that it stands everywhere can be the user's, but is never a tool's. Where the bounds of the index
// leave a value undecided, or texts are lost, it counts as a tool's.
func (c *Conversation) Origin(value any) Origin {
	text, ok := wording(value)
	if !ok {
		return Origin{Source: Model}
	}
	if o, ok := c.known[text]; ok {
		return o
	}
	c.read()
	o := c.trace(text)
	if len(c.known) < maxWholes {
		c.known[text] = o
	}
	return o
}

// wording is a value as texts say it.
func wording(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return decimalText(string(v)), true
	}
	return "", false
}

// read is the index, which is made when it is first asked for.
func (c *Conversation) read() *index {
	if c.index == nil {
		c.index = newIndex(c.key, c.said, c.lost)
	}
	return c.index
}

func (c *Conversation) trace(text string) Origin {
	o, ok := c.whole(text)
	if ok {
		return o
	}
	if len(text) <= maxWhole {
		if o, ok = c.within(text); ok {
			o.Partly = true
			return o
		}
	}
	if o, ok = c.index.undecided(); ok {
		return o
	}
	return Origin{Source: Model}
}

// whole finds a value that was said as it is.
func (c *Conversation) whole(text string) (Origin, bool) {
	not := byJoiner | byAt
	if ShapeOf(text) == Path {
		not |= bySlash
	}
	return c.index.find(text, not, slight(text))
}

// within finds the parts of a value.
func (c *Conversation) within(text string) (Origin, bool) {
	if p := parts(text); p != nil {
		for _, part := range p {
			if o, ok := c.index.find(part, byJoiner, slight(part)); ok {
				return o, true
			}
		}
		return Origin{}, false
	}
	worst, found := Origin{}, false
	for _, one := range Identifiers(text) {
		if one == text {
			continue
		}
		o, ok := c.whole(one)
		if !ok {
			o, ok = c.within(one)
		}
		if ok && (!found || o.worse(worst)) {
			worst, found = o, true
		}
	}
	return worst, found
}

// slight reports whether a value is so short or so common that a tool's result which holds it means nothing: less than
// three letters or digits, numbers below a thousand, and the words of settings.
func slight(text string) bool {
	said := strings.ToLower(strings.TrimSpace(text))
	switch said {
	case "true", "false", "null", "none", "yes", "all", "default", "auto", "any":
		return true
	}
	digits, letters := 0, 0
	for _, r := range said {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case classOf(r) != between:
			letters++
		}
	}
	return digits+letters < 3 || letters == 0 && digits < 4
}
