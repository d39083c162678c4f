package detect

import "strings"

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

// talk are words of texts that speak about attacks, in several languages.
func talk() []string {
	return []string{
		"inject", "attack", "phrase", "jailbreak", "such as", "e.g.", "for example", "example:", "malicious", "adversar", "payload",
		"detect", "quote", "mean", "scanner", "filter", "flagged", "called", "wording", "says", "owasp", "vulnerab",
		"attaqu", "malveillant", "par exemple", "angriff", "angreifer", "zum beispiel", "z. b.",
		"ataque", "ataca", "por ejemplo", "por exemplo", "malicios", "inyec", "injec", "injet", "attacc", "ad esempio", "iniezione",
		"атак", "злоумышл", "инъекц", "επιτιθ", "επιθεσ", "攻击", "攻撃", "攻擊", "注入", "공격", "인젝션", "هجوم", "مهاجم",
		"हमल", "saldırı", "saldiri", "serang", "tan cong",
	}
}

// mentioned reports whether the phrase at start..end of a normalised text is quoted in a text that speaks about attacks.
func (p *patterns) mentioned(text string, start, end int) bool {
	before := text[max(0, start-quoteReach):start]
	if i := strings.LastIndexAny(before, "\n.!?:;"); i >= 0 && i < len(before)-3 {
		before = before[i+1:]
	}
	return strings.ContainsAny(before, quotes) && p.talk.any(text[max(0, start-talkReach):min(len(text), end+talkReach)])
}
