package detect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentionMax is the highest score of a phrase that is only quoted: too low to block, high enough to warn. Whoever attacks can
// write quotation marks too.
const mentionMax = 0.75

const (
	// quoteReach is how far before a phrase its opening quotation mark may stand, in bytes.
	quoteReach = 24
	// talkReach is how far around a phrase words are looked for that show that the text speaks about attacks.
	talkReach = 320
)

// quotes are opening quotation marks, as normalised text has them.
const quotes = "\"'`“”‘„«»「『‚"

// attacks are words of texts that speak about attacks, in several languages. An asterisk stands for any ending; words of scripts
// and languages that join words to one another are found anywhere.
func attacks() []string {
	return []string{
		"inject*", "attack*", "jailbreak*", "malicious", "adversar*", "owasp", "vulnerab*", "attaqu*", "malveillant*", "angriff*", "angreifer*",
		"ataque*", "ataca*", "malicios*", "inyec*", "injec*", "injet*", "attacc*", "iniezione", "malintenzionat*", "mal-intencionad*",
		"aanval*", "atak*", "wstrzyk*",
		"атак", "злоумышл", "инъекц", "επιτιθ", "επιθεσ", "攻击", "攻撃", "攻擊", "注入", "공격", "인젝션", "هجوم", "مهاجم",
		"हमल", "इंजेक्शन", "saldırı*", "saldiri*", "serang*", "tan cong",
	}
}

// quotations are words that lead to what somebody else says.
func quotations() []string {
	return []string{
		"phrase*", "such as", "e.g.", "for example", "example:", "payload*", "detect*", "quote*", "mean", "means", "meant", "meaning",
		"scanner*", "filter*", "flagged", "called", "wording", "says", "par exemple", "zum beispiel", "z. b.", "por ejemplo", "por exemplo",
		"ad esempio",
	}
}

// mentioned reports whether the phrase at start..end of a normalised text is spoken about: it stands in quotation marks in a text about
// attacks, or its sentence says before it who attacks.
func (l *patternLook) mentioned(text string, start, end int) bool {
	sentence := span{max(0, start-talkReach), start}
	sentence.start += lastStop(text[sentence.start:start]) + 1
	if l.attacks.broken(&l.patterns.attacks, text, sentence) {
		return true
	}
	before := text[max(0, start-quoteReach):start]
	if tag := strings.LastIndexByte(before, '>'); tag >= 0 && strings.ContainsAny(before[:tag], "=\"'") {
		before = before[tag+1:] // what stands in quotation marks inside of a tag is an attribute
	}
	if i := strings.LastIndexAny(before, "\n.!?:;"); i >= 0 && i < len(before)-3 {
		before = before[i+1:]
	}
	if !quoted(before) {
		return false
	}
	// What stands behind the sentence does not count: nothing that is appended may lower a score.
	after := text[end:min(len(text), end+talkReach)]
	for i := range len(after) {
		if after[i] != ':' && stopAt(after, i) {
			after = after[:i]
			break
		}
	}
	around := span{max(0, start-talkReach), end + len(after)}
	return l.attacks.broken(&l.patterns.attacks, text, around) || l.quotations.broken(&l.patterns.quotations, text, around)
}

// silence is a part of a text in which none of some words stands. Phrases stand close together, and what stands around them need not be
// looked at for each.
type silence struct {
	span
	loud span // one of the words, which was found last
}

// broken reports whether one of the words stands in a part of the text.
func (s *silence) broken(t *talkWords, text string, part span) bool {
	if part.start < s.loud.start && s.loud.end < part.end {
		return true // and what stands around it is in the part as well
	}
	from := part.start
	if s.start <= from && from <= s.end {
		if part.end <= s.end {
			return false
		}
		from = max(from, s.end-t.longest)
	}
	if t.words.any(text[from:part.end]) {
		word, found := t.find(text[part.start:part.end])
		if found && word.start > 0 && word.end < part.end-part.start { // at an edge it may be a part of another
			s.loud = span{part.start + word.start, part.start + word.end}
		}
		return found
	}
	if from == part.start {
		s.start = from
	}
	s.end = part.end
	return false
}

// lastStop is where the last mark of a text stands that ends a sentence, or leads to what is said; -1 without one.
func lastStop(text string) int {
	i := len(text) - 1
	for i >= 0 && (!stops[text[i]] || !stopAt(text, i)) {
		i--
	}
	return i
}

// stops are the bytes that such marks begin with.
var stops = func() (is [256]bool) {
	for _, r := range "\n.!?:।。！？" {
		is[string(r)[0]] = true
	}
	return is
}()

// stopAt reports whether such a mark begins at byte i.
func stopAt(text string, i int) bool {
	if c := text[i]; c < utf8.RuneSelf {
		return stops[c]
	}
	switch text[i:min(i+3, len(text))] {
	case "।", "。", "！", "？":
		return true
	}
	return false
}

// quoted reports whether a quotation mark stands in a text that does not open the value of an attribute.
func quoted(text string) bool {
	for i := range len(text) {
		if !quoteBegins[text[i]] || i > 0 && text[i-1] == '=' {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[i:]); strings.ContainsRune(quotes, r) {
			return true
		}
	}
	return false
}

// quoteBegins are the bytes that quotation marks begin with.
var quoteBegins = func() (is [256]bool) {
	for _, r := range quotes {
		is[string(r)[0]] = true
	}
	return is
}()

// in reports whether one of the words stands in a text.
func (t *talkWords) in(text string) bool {
	_, found := t.find(text)
	return found
}

// find is the first of the words that stands in a text.
func (t *talkWords) find(text string) (at span, found bool) {
	t.words.each(text, func(id uint32, end int) bool {
		w := t.list[id]
		at = span{end - len(w.text), end}
		found = w.anywhere || !wordBefore(text, at.start) && (w.stem || !wordAfter(text, end))
		return !found
	})
	return at, found
}

// talkWord is a word that shows what a text speaks about.
type talkWord struct {
	text     string
	stem     bool // any ending may follow
	anywhere bool // it counts inside of other words
}

// talkWords is such words and what finds them.
type talkWords struct {
	list    []talkWord
	words   *automaton
	longest int // of the words, in bytes
}

func newTalkWords(words []string) talkWords {
	var t talkWords
	var texts []string
	for _, w := range words {
		text, stem := strings.CutSuffix(w, "*")
		first, _ := utf8.DecodeRuneInString(text)
		t.list = append(t.list, talkWord{text, stem, first >= utf8.RuneSelf})
		texts = append(texts, text)
		t.longest = max(t.longest, len(text))
	}
	t.words = newAutomaton(texts)
	return t
}

// wordBefore reports whether a letter or digit ends at i, and wordAfter whether one begins there.
func wordBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func wordAfter(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
