package detect

import "sync"

// Pressing reports whether a short text speaks to the model, or of the two of them, and of what limits it: rules, secrets, leave, refusal.
// By itself that is no attack; people ask shops for their rules. Beside a faint score it tells texts that talk a model out of its rules
// from those that give orders to a program.
func Pressing(text string) bool {
	n := read(text, formOf(text))
	lists := pressure()
	return lists.limits.in(n.Text) && lists.partners.in(n.Text)
}

type pressureWords struct{ limits, partners talkWords }

var pressure = sync.OnceValue(func() pressureWords {
	return pressureWords{newTalkWords(limits()), newTalkWords(partners())}
})

// limits are words for what a model may do, was told and keeps to itself, without accents. An asterisk stands for any ending.
func limits() []string {
	return []string{
		"rule", "rules", "guideline*", "policy", "policies", "restrict*", "limit", "limits", "limitation*", "filter", "filters", "forbid*",
		"allowed", "permitted", "permission*", "prohibit*", "refus*", "disclaimer*", "warning", "warnings", "morali*", "cautio*", "say no",
		"can't help", "confidential*", "secret*", "hidden", "hiding", "hide", "private", "told", "instruct*", "system prompt", "configuration",
		"makers", "developer*", "operator", "administrator", "authoris*", "authoriz*", "obey*", "unrestricted", "uncensored", "character",
		"version", "free", "freed", "off", "skip*", "exception*", "without asking", "confirmation", "check", "checks", "approv*", "access",
		"audit", "trust", "original", "wording", "forgotten", "never", "nobody", "ignor*", "forget*", "disregard*", "overrid*", "bypass*",
		"role", "pretend", "in full", "behave",
		"regel", "regeln", "vorschrift*", "richtlinie*", "beschrankung*", "verboten", "erlaubt", "geheim*", "anweisung*", "vergiss", "ohne nachfrage",
		"regle*", "interdit*", "consigne*", "limite", "limites", "oublie*",
		"regla*", "prohibid*", "permitid*", "secreto", "instrucci*", "filtro*", "olvida*", "limitaci*",
		"regole", "vietat*", "segreto", "istruzion*", "regras", "proibid*", "segredo", "instruco*", "esquec*", "dimentica*",
	}
}

// partners are words for the model, the user and their conversation.
func partners() []string {
	return []string{
		"you", "your", "yours", "yourself", "you're", "assistant*", "chat", "us", "me", "i'm", "i am", "user", "users", "conversation",
		"du", "dir", "dich", "dein*", "wir", "uns", "mir", "tu", "te", "toi", "ton", "tes", "ta", "moi", "nous", "vous", "ti", "tus", "contigo", "conmigo",
		"nosotros", "voce", "seu", "sua", "comigo", "tuo", "tue", "noi",
	}
}
