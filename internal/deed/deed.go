// Package deed says which deeds a text speaks of and which a tool does, by the stems of verbs in many languages: to send, to pay,
// to delete. It is coarse on purpose: it is held against itself, to see whether what a call does was asked for by the user, or
// only by the result of a tool. It is pure, and takes time linear in the text.
package deed

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Set is a set of deeds.
type Set uint16

// The deeds. One verb may stand for several.
const (
	Send    Set = 1 << iota // a message to somebody: mail, chat, reply, forward
	Pay                     // money to somebody
	Delete                  // something away
	Share                   // access to something, or somebody to something: share, invite, grant
	Post                    // something in public, or where many read it
	Write                   // a file, a record, an event: create, save, upload
	Change                  // what is there: settings, passwords, details
	Run                     // a command or a program
	Visit                   // an address: open, fetch, download
	Book                    // a room, a flight, goods: book, buy, cancel
	Tell                    // something to the speaker: send me, tell us
	Mention                 // mail or a message, as a thing
)

// Has reports whether two sets have a deed in common.
func (s Set) Has(t Set) bool { return s&t != 0 }

// Len is the number of deeds.
func (s Set) Len() int { return bits.OnesCount16(uint16(s)) }

// Of is the set of deeds that a text speaks of, in whichever of the languages of the lexicon.
func Of(text string) Set {
	var s Set
	r := reader{text: text}
	for s != all && r.next() {
		one, _ := r.means()
		s |= one
	}
	return s
}

// Work are the deeds on files and programs.
const Work = Write | Change | Run | Visit

// Grave are the deeds that nobody does by the way.
const Grave = Pay | Share | Run

// Acts are the deeds that change something.
const Acts = Send | Pay | Delete | Share | Post | Write | Change | Run | Book

const all = Mention<<1 - 1

// OfTool is the set of deeds that a tool does, as far as its name tells: send_email, deleteFile, mcp__bank__transfer.
func OfTool(name string) Set {
	words := spaced(name)
	var s Set
	for w := range strings.FieldsSeq(words) {
		s |= tools[w]
	}
	if s == 0 {
		s = Of(words)
	}
	return s
}

// Looks reports whether a tool whose name is not English only looks at something, as far as the first word of it with a meaning
// tells.
func Looks(name string) bool {
	r := reader{text: spaced(name)}
	for r.next() {
		d, m := r.means()
		switch {
		case things[string(r.word)]:
		case tools[string(r.word)] != 0:
			return false
		case m&asks != 0 || d == Visit:
			return true
		case d != 0:
			return false
		}
	}
	return false
}

// things are the words in names of tools that are nouns beside being verbs.
var things = map[string]bool{"mail": true, "mails": true, "email": true, "emails": true, "message": true, "messages": true, "file": true, "files": true,
	"page": true, "link": true, "document": true, "order": true, "post": true, "posts": true, "note": true, "record": true, "url": true}

// spaced is a name with its words apart, in lower case.
func spaced(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			if lower {
				b.WriteByte(' ')
			}
			b.WriteRune(c | 0x20)
			lower = false
		case c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
			b.WriteRune(c)
			lower = true
		default:
			b.WriteByte(' ')
			lower = false
		}
	}
	return b.String()
}
