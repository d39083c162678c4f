package deed

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxHead is up to which word of a sentence its first words count.
	maxHead = 5
	// maxReach is how many words lie between two that belong together.
	maxReach = 6
	// minProse is how many words make a sentence, those with a capital left out.
	minProse = 5
)

// meaning reads one sentence.
func meaning(text string) (deeds Set, signs Sign) {
	r := reader{text: text}
	var at last
	for i := range at {
		at[i] = -10 * maxReach
	}
	var before mark
	var said Set // by the word before
	question := strings.ContainsAny(text[max(0, len(text)-4):], "?\uff1f؟")
	if strings.Contains(text, "rợ lý") { // Vietnamese writes the assistant in two words
		signs |= Addressed
	}
	open := false // in a question within the sentence
	plain := 0    // words that begin with no capital
	for n := 0; r.next(); n++ {
		d, m := r.means()
		if n == 0 {
			question = question && m&asks != 0
		}
		if !r.wide && r.file() {
			d = 0
		}
		near := reach(r.wide)
		if !startsHigh(text[r.start:]) {
			plain++
		}
		if m&short != 0 && (before&toward != 0 || capitals(text[r.start:r.at])) {
			m |= agent
		}
		switch {
		case m&whether != 0 && before&asks != 0:
			open = true
		case m&joins != 0:
			open = false
		}
		if question || open || past(r.word) && before&be == 0 {
			d &= Visit
		}
		if before&how != 0 && m&toward != 0 {
			m |= how
		} else if before&how != 0 {
			d &= Visit
		}
		if m&thing != 0 && n > 0 && before&joins == 0 && d != 0 {
			if d = d&^(Send|Post) | Mention; at.within(det, n, 2) {
				d &= Visit | Mention
			}
		}
		if m&self != 0 && said != 0 && !r.wide {
			deeds, said = deeds|Tell, 0
		}
		deeds, said = deeds|said, d
		if m == 0 {
			before = 0
			continue
		}
		at.note(m, n)
		switch {
		case m&agent != 0 && at.within(ours, n, 2):
			signs |= Perhaps
		case m&agent != 0:
			signs |= Addressed
		case m&tool != 0 && (at.within(toward, n, 2) || before&(tool|reads) != 0), m&(tool|reads) != 0 && n < maxHead && strings.HasPrefix(text[r.at:], ": "):
			signs |= Addressed
		case m&reads != 0 && before&tool != 0:
			signs |= Addressed
		case m&(tool|reads) != 0 && (n < maxHead || at.within(toward, n, near)):
			signs |= Perhaps
		}
		if m&silent != 0 || m&(not|tell) != 0 && at.within(not, n, near) && at.within(tell, n, near) {
			signs |= Secret
		}
		if m&tool != 0 && m&agent == 0 {
			signs |= Program
		}
		if m&holder != 0 || m&task != 0 && before&yours != 0 {
			signs |= Perhaps
		}
		if m&(order|task) != 0 && at.within(order, n, near) && at.within(task, n, near) {
			signs |= Meddling
		}
		if m&defers != 0 {
			signs |= Defers
		}
		if m&asks != 0 {
			signs |= Asks
		}
		before = m
	}
	if plain >= minProse {
		signs |= Prose
	}
	return deeds | said, signs
}

// startsHigh reports whether a text starts with a capital letter.
func startsHigh(text string) bool {
	c, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(c)
}

// past reports whether a word is English and says that something was done.
func past(word []byte) bool {
	w := string(word)
	return w == "sent" || w == "paid" || w == "gave" || len(w) > 5 && strings.HasSuffix(w, "ed")
}

// last is, for each mark, the number of the last word that had it.
type last [32]int

func (l *last) note(m mark, n int) {
	for ; m != 0; m &= m - 1 {
		l[bits.TrailingZeros32(uint32(m))] = n
	}
}

func (l *last) within(m mark, n, words int) bool {
	return n-l[bits.TrailingZeros32(uint32(m))] <= words
}

// named reports whether a text names a mail address.
func named(text string) bool {
	for i := 1; ; i++ {
		at := strings.IndexByte(text[i-1:], '@')
		if i += at; at < 0 || i >= len(text) {
			return false
		}
		if i > 1 && alnum(text[i-2]) && alnum(text[i]) {
			return true
		}
	}
}

// capitals reports whether a word is written in capitals.
func capitals(word string) bool { return word == strings.ToUpper(word) }

// reach is how far apart two words are that belong together; scripts without spaces have a word at every character.
func reach(wide bool) int {
	if wide {
		return 3 * maxReach
	}
	return maxReach
}
