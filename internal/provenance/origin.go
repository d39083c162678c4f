// Package provenance says where a value of a tool call came from: what the user or the operator said, the result of which
// tool, or the model alone. It promises that values match as people read them, whatever their case, spacing, width or number
// format, and only as a whole: 1 is not said in 21. It is pure, and bounded in time and memory. It leaves to others which
// results are tainted, and what follows from an origin.
package provenance

// Source is who brought a value into a conversation.
type Source string

// Sources, from the most to the least trusted.
const (
	System     Source = "system"
	User       Source = "user"
	Model      Source = "model" // nobody else said it
	ToolResult Source = "tool_result"
)

// LessTrusted reports whether s is to be trusted less than t. What is no known source is trusted least.
func (s Source) LessTrusted(t Source) bool { return s.distrust() > t.distrust() }

func (s Source) distrust() int {
	switch s {
	case System:
		return 0
	case User:
		return 1
	case Model:
		return 2
	case ToolResult:
		return 3
	}
	return 4
}

// Origin is where a value came from.
type Origin struct {
	Source  Source
	Tool    string // of a tool result: the full name of the tool; may be empty
	Tainted bool   // of a tool result: it held an injection
	Partly  bool   // only a part of the value was said, such as the host of a URL
	At      int    // the [Said.At] of the text that it came from; 0: of none, or it has none
}

// worse reports whether o is the worse news of two.
func (o Origin) worse(than Origin) bool {
	if o.Tainted != than.Tainted {
		return o.Tainted
	}
	return o.Source.LessTrusted(than.Source)
}
