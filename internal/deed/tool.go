package deed

import "strings"

// tools are the words of names of tools, by what they do. They are English, as such names are.
var tools = wordsOf(map[Set]string{
	Send:         "send email mail message msg sms reply forward notify dm whisper contact respond broadcast fax ping page alert",
	Pay:          "pay payment transfer wire donate refund remit withdraw payout charge tip",
	Delete:       "delete remove rm erase purge drop trash wipe destroy unlink clear archive uninstall",
	Share:        "share invite grant collaborator member permission permissions access role participants attendees",
	Post:         "post publish tweet comment announce toot review blog release",
	Write:        "write create save upload append insert add put draft make store copy export commit push merge event issue record schedule log",
	Change:       "update edit modify set change rename reset patch configure enable disable assign move replace close approve password settings",
	Run:          "run execute exec eval shell bash terminal command script subprocess deploy install invoke trigger",
	Visit:        "open visit browse navigate fetch get url http request download webhook crawl curl click",
	Book:         "book reserve reservation buy purchase order checkout cancel subscribe rent",
	Pay | Book:   "invoice bill subscription",
	Share | Post: "channel",
})

func wordsOf(list map[Set]string) map[string]Set {
	out := map[string]Set{}
	for deeds, words := range list {
		for w := range strings.FieldsSeq(words) {
			out[w] |= deeds
		}
	}
	return out
}
