package policy

import (
	"strings"
	"unicode/utf8"
)

// glob is a pattern over the full name of a tool: * stands for any text, ? for one character. It has no escapes, because
// no tool name holds either character.
type glob string

// wrongPattern says why a pattern cannot be used; empty when it can.
func wrongPattern(pattern string) string {
	switch {
	case pattern == "":
		return "the name of a tool is missing"
	case strings.TrimSpace(pattern) != pattern:
		return "has spaces around it, so it would match nothing"
	case !utf8.ValidString(pattern):
		return "is not valid UTF-8"
	}
	return ""
}

// exact reports whether the pattern is one tool's name.
func (g glob) exact() bool { return !strings.ContainsAny(string(g), "*?") }

// selects reports whether the pattern says anything of a name beyond its length. One that does not, such as *, puts no
// tool inside the fence.
func (g glob) selects() bool { return strings.Trim(string(g), "*?") != "" }

// within reports whether the pattern may be meant for a tool of an MCP server, whose label ends in a slash.
func (g glob) within(label string) bool {
	literal := string(g)
	if i := strings.IndexAny(literal, "*?"); i >= 0 {
		literal = literal[:i]
	}
	return strings.HasPrefix(literal, "mcp:") && (strings.HasPrefix(literal, label) || strings.HasPrefix(label, literal))
}

// match goes through the name once and returns at most to the last star: a later star can take over whatever an earlier
// one could, so nothing before it is tried again. The time is bounded by the product of the two lengths.
func (g glob) match(name string) bool {
	pattern := string(g)
	p, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			p, n = p+1, n+width(name[n:])
			continue
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
			continue
		}
		if star < 0 {
			return false
		}
		resume += width(name[resume:])
		p, n = star+1, resume
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// width is the number of bytes of the first character.
func width(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
