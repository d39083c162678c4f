package policy

import (
	"slices"
	"strings"
)

// builtin is a flag that holds without being written down.
type builtin struct {
	pattern string // as operators know it
	words   string // what the pattern begins with, without its underscores
	open    bool   // more words must follow
}

// builtins are the tools whose calls cannot be taken back.
var builtins = [...]builtin{
	{"send_email", "sendemail", false},
	{"delete_*", "delete", true},
	{"transfer_*", "transfer", true},
}

// activeBuiltins are the built-in flags that a tools section leaves on: all, unless the operator wrote a list of flags.
// What the operator copied from the built-in list into that list keeps its built-in meaning: to write a default down
// neither weakens it nor makes it one that no rule lifts.
func activeBuiltins(t Tools) []builtin {
	if !t.FlagSet {
		return builtins[:]
	}
	var on []builtin
	for _, b := range builtins {
		if slices.Contains(t.Flag, b.pattern) {
			on = append(on, b)
		}
	}
	return on
}

// builtinPattern reports whether a pattern is that of a built-in flag.
func builtinPattern(pattern string) bool {
	return slices.ContainsFunc(builtins[:], func(b builtin) bool { return b.pattern == pattern })
}

// match reads the last segment of a name, its leaf. The segments before it are read with it only when they are part of
// the same words, so that delete__file and send.email are caught and the tools of a server called delete_service are not.
func (b builtin) match(segments [][]string) bool {
	if len(segments) == 0 {
		return false
	}
	leaf := len(segments) - 1
	if b.begins(segments[leaf]) {
		return true
	}
	for i := range leaf {
		words := slices.Concat(segments[i:]...)
		if whole := strings.Join(segments[i], ""); strings.HasPrefix(b.words, whole) && b.begins(words) {
			return true
		}
	}
	return false
}

// begins reports whether the first words, written together, are those of the flag. Written together, because case is no
// reliable border: sendEMail and de_leteFile are what they say.
func (b builtin) begins(words []string) bool {
	rest := b.words
	for i, w := range words {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, w); !ok {
			return false
		}
		if rest == "" {
			more := i+1 < len(words)
			return more == b.open
		}
	}
	return false
}
