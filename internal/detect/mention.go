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
func (p *patterns) mentioned(text string, start, end int) bool {
	sentence := text[max(0, start-talkReach):start]
	if i := strings.LastIndexAny(sentence, "\n.!?:。！？।"); i >= 0 {
		sentence = sentence[i+1:]
	}
	if p.attacks.in(sentence) {
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
	if i := strings.IndexAny(after, "\n.!?。！？।"); i >= 0 {
		after = after[:i]
	}
	around := text[max(0, start-talkReach):end] + after
	return p.attacks.in(around) || p.quotations.in(around)
}

// quoted reports whether a quotation mark stands in a text that does not open the value of an attribute.
func quoted(text string) bool {
	for i, r := range text {
		if strings.ContainsRune(quotes, r) && (i == 0 || text[i-1] != '=') {
			return true
		}
	}
	return false
}

// in reports whether one of the words stands in a text.
func (t *talkWords) in(text string) bool {
	hit := false
	t.words.each(text, func(id uint32, end int) bool {
		w := t.list[id]
		hit = w.anywhere || !wordBefore(text, end-len(w.text)) && (w.stem || !wordAfter(text, end))
		return !hit
	})
	return hit
}

// talkWord is a word that shows what a text speaks about.
type talkWord struct {
	text     string
	stem     bool // any ending may follow
	anywhere bool // it counts inside of other words
}

// talkWords is such words and what finds them.
type talkWords struct {
	list  []talkWord
	words *automaton
}

func newTalkWords(words []string) talkWords {
	var t talkWords
	var texts []string
	for _, w := range words {
		text, stem := strings.CutSuffix(w, "*")
		first, _ := utf8.DecodeRuneInString(text)
		t.list = append(t.list, talkWord{text, stem, first >= utf8.RuneSelf})
		texts = append(texts, text)
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
