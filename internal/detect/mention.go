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
	talkReach = 160
)

// quotes are opening quotation marks, as normalised text has them.
const quotes = "\"'`“”‘„«»「『‚"

// talk are words of texts that speak about attacks, in several languages. An asterisk stands for any ending; words of scripts
// and languages that join words to one another are found anywhere.
func talk() []string {
	return []string{
		"inject*", "attack*", "phrase*", "jailbreak*", "such as", "e.g.", "for example", "example:", "malicious", "adversar*", "payload*",
		"detect*", "quote*", "mean", "means", "meant", "meaning", "scanner*", "filter*", "flagged", "called", "wording", "says", "owasp", "vulnerab*",
		"attaqu*", "malveillant", "par exemple", "angriff*", "angreifer*", "zum beispiel", "z. b.",
		"ataque*", "ataca*", "por ejemplo", "por exemplo", "malicios*", "inyec*", "injec*", "injet*", "attacc*", "ad esempio", "iniezione",
		"атак", "злоумышл", "инъекц", "επιτιθ", "επιθεσ", "攻击", "攻撃", "攻擊", "注入", "공격", "인젝션", "هجوم", "مهاجم",
		"हमल", "saldırı*", "saldiri*", "serang*", "tan cong",
	}
}

// mentioned reports whether the phrase at start..end of a normalised text is quoted in a text that speaks about attacks.
func (p *patterns) mentioned(text string, start, end int) bool {
	before := text[max(0, start-quoteReach):start]
	if tag := strings.LastIndexByte(before, '>'); tag >= 0 && strings.ContainsAny(before[:tag], "=\"'") {
		before = before[tag+1:] // what stands in quotation marks inside of a tag is an attribute
	}
	if i := strings.LastIndexAny(before, "\n.!?:;"); i >= 0 && i < len(before)-3 {
		before = before[i+1:]
	}
	return quoted(before) && p.speaks(text[max(0, start-talkReach):min(len(text), end+talkReach)])
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

// speaks reports whether a word of talk stands in a text.
func (p *patterns) speaks(text string) bool {
	hit := false
	p.talk.words.each(text, func(id uint32, end int) bool {
		w := p.talk.list[id]
		hit = w.anywhere || !wordBefore(text, end-len(w.text)) && (w.stem || !wordAfter(text, end))
		return !hit
	})
	return hit
}

// talkWord is one word of talk.
type talkWord struct {
	text     string
	stem     bool // any ending may follow
	anywhere bool // it counts inside of other words
}

// talkWords is the words of talk and what finds them.
type talkWords struct {
	list  []talkWord
	words *automaton
}

func newTalkWords() talkWords {
	var t talkWords
	var texts []string
	for _, w := range talk() {
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
