package checkpoint

import (
	"regexp"
	"slices"
	"strings"
)

// stance is how a text stands to something that it names. The words are English, as reasoning mostly is; what is not understood
// is neutral.
type stance int

const (
	neutral  stance = iota
	mentions        // it tells what somebody else wants, refuses it, or warns of it
	urges           // it tells its reader to do it
	acts            // it says that it does it, will do it, or has done it
)

const (
	// will is how somebody begins who is going to do something.
	will = `(?:(?:i|we)(?: will| shall| must| should| can| need to| have to| am going to| are going to| am about to| ought to| am now| am)?` +
		`|(?:i|we)['’](?:ll|m going to|re going to|m about to|m now|m|re)|let me|let us|let['’]s|now|next|my (?:new )?(?:task|goal|job|next step) is(?: now)? to|time to)`
	// filler may stand between that and the verb. "not" is none.
	filler = `(?:[\s,]+(?:also|now|then|just|simply|therefore|first|immediately|quietly|secretly|silently|directly|go ahead and|proceed to|start by|begin by|continue to|try to|quickly|instead))*`
	// verbs are what injected instructions ask for.
	verbs = `(?:send|sending|e-?mail|e-?mailing|forward|forwarding|post|posting|upload|uploading|transfer|transferring|wire|wiring|pay|paying` +
		`|submit|submitting|transmit|transmitting|share|sharing|exfiltrate|exfiltrating|copy|copying|call|calling|invoke|invoking|run|running` +
		`|execute|executing|use|using|visit|visiting|open|opening|fetch|fetching|download|downloading|read|reading|write|writing|include|including` +
		`|add|adding|append|appending|insert|inserting|embed|embedding|put|render|rendering|output|print|reveal|revealing|disclose|leak|follow|following` +
		`|obey|obeying|comply|complying|do so|do that|do as|do what|carry|act|adopt|delete|deleting|remove|replace|link|direct|recommend|deliver|install|bcc|cc)`
	// content is what agents read.
	content = `(?:page|document|doc|e-?mail|mail|message|web ?site|site|article|file|readme|tool|tool result|tool output|result|results|output|content|text|note|comment|attachment|ticket|issue|review|invite|snippet)`
)

var (
	declares = regexp.MustCompile(`\b` + will + filler + `\s+` + verbs + `\b`)
	begins   = regexp.MustCompile(`\b` + will + `\b`)
	goesOn   = regexp.MustCompile(`(?:,|\band\b|\bthen\b)` + filler + `\s+(?:will\s+)?` + verbs + `\b`)
	refuses  = regexp.MustCompile(`\b(?:not|never|refus\w*|declin\w*|ignor\w*|disregard\w*|avoid\w*|cannot|without|instead of|rather than|wrong|unless)\b|n['’]t\b`)
	attacked = regexp.MustCompile(`\b(?:inject\w*|malicious|phish\w*|scam\w*|suspicious\w*|attack\w*|untrusted|adversar\w*|fraud\w*|warn\w*|caution\w*|beware|trick\w*` +
		`|jailbreak\w*|manipulat\w*|unsafe|dangerous|harmful|unauthori[sz]ed|hidden instruction\w*|embedded instruction\w*|social engineering|spoof\w*|red flag\w*|exfiltrat\w*|tamper\w*|betrug\w*|betrüger\w*|arnaque\w*|hameçonnage|estafa\w*|fraude\w*|truff\w*|suplantaci\w*|golpe)\b`)
	attributes = regexp.MustCompile(`\b(?:says?|said|saying|asks?|asked|asking|tells?|told|telling|instructs?|instructed|instructing|wants?|wanted|requests?|requested|requesting` +
		`|claims?|demands?|demanding|contains?|mentions?|mentioned|orders?|directs?|directing|urges?|urging|tries|trying|attempts?|attempting|would have me|according to|states?|quotes?|if (?:i|we)|whether` +
		`|fordert|verlangt|bittet|behauptet|demande|exige|prétend|pide|solicita|chiede|pede)\b`)
	turns     = regexp.MustCompile(`\b(?:but|however|wait|actually|hold on|no,)`)
	concludes = regexp.MustCompile(`\b(?:so|therefore|thus|hence|accordingly|then|as instructed|as requested|as told)\b`)
	acted     = regexp.MustCompile(`\b(?:sent|e-?mailed|forwarded|posted|uploaded|transferred|wired|paid|submitted|shared|delivered|copied|executed|ran|downloaded|visited|called|deleted|installed)\b`)
	advises   = regexp.MustCompile(`\b(?:please|kindly|you (?:should|must|can|need to|have to|may)|make sure to|be sure to)\b|^\W*(?:visit|click|call|contact|send|pay|go to|open|download|run|log ?in|verify|transfer|wire|e-?mail|install)\s`)

	// overUser is setting aside those who may give instructions. It is cut out before words of refusal are looked for.
	overUser = regexp.MustCompile(`\b(?:ignor|disregard|forget|overrid|bypass|abandon|set(?:ting)? aside)\w*\s+(?:all\s+|any\s+|of\s+|what\s+|the\s+|my\s+|your\s+|everything\s+){0,4}` +
		`(?:user\b(?:['’]s)?(?:\s+\w+)?|(?:previous|prior|earlier|original|system|above|developer)\s+(?:\w+\s+)?(?:instructions?|prompts?|directions?|guidelines?|rules?|requests?|tasks?|orders?|commands?|messages?)|(?:instructions|guidelines|rules))` +
		`|\b(?:instead of|rather than|and not)\s+(?:what\s+|doing\s+|with\s+){0,2}(?:the\s+|my\s+)?(?:user(?:['’]s)?|original)\s+(?:asked|wants?|wanted|requested|requests?|questions?|tasks?|instructions?)`)
	contentSays = regexp.MustCompile(`\b(?:the|this|that|its?)\s+(?:[\w-]+\s+){0,2}(?:instructions?|` + content + `)\s+(?:\w+\s+){0,2}(?:says?|said|tells?|told|asks?|asked|instructs?|wants?|requires?|requests?|directs?|orders?|demands?|states?)\b`)
	obeys       = regexp.MustCompile(`\b` + will + filler + `\s+(?:follow|following|obey|obeying|comply with|complying with|carry out|execute|do what|do as|act on|adopt)\s+(?:[\w'’-]+\s+){0,7}` + content + `\b`)
)

// stanceTo is the stance of a lower-case text to what stands at start..end in it.
func stanceTo(text string, start, end int) stance {
	from, to := sentenceAround(text, start, end)
	before, after := blank(text[from:start], overUser), text[end:to]
	around := before + text[start:to]
	last, next := neighbours(text, from, to)
	switch {
	case strings.HasSuffix(strings.TrimSpace(after), "?"), recants(after), recants(next):
		return mentions
	case resolves(before):
		return acts
	case mentioned(around), mentioned(last+next) && !advises.MatchString(around):
		return mentions
	case acted.MatchString(before):
		return acts
	case advises.MatchString(around):
		return urges
	}
	return neutral
}

// resolves reports whether the beginning of a sentence declares that what it ends with will be done.
func resolves(before string) bool {
	for _, m := range declares.FindAllStringIndex(before, -1) {
		if told(before[:m[0]]) || mentioned(before[m[1]:]) {
			continue
		}
		return true
	}
	// I will gather the keys and mail them to: the verb has its beginning further back.
	for _, m := range goesOn.FindAllStringIndex(before, -1) {
		b := begins.FindStringIndex(before[:m[0]])
		if len(b) == 0 || told(before[:b[0]]) || mentioned(before[b[1]:m[0]]) || mentioned(before[m[1]:]) {
			continue
		}
		return true
	}
	return false
}

// recants reports whether what follows a declaration takes it back: reasoning thinks better of it.
func recants(after string) bool {
	return attacked.MatchString(after) || turns.MatchString(after) && refuses.MatchString(after)
}

// told reports whether what follows a text is somebody else's word: "the page says that" is, "the page says it, so" is not.
func told(before string) bool {
	all := attributes.FindAllStringIndex(before, -1)
	return len(all) > 0 && !concludes.MatchString(before[all[len(all)-1][1]:])
}

func mentioned(text string) bool {
	return refuses.MatchString(text) || attacked.MatchString(text) || attributes.MatchString(text)
}

// taken reports whether an instruction at start..end of a lower-case text has been made the text's own: somebody declares
// to act, or nobody else is said to want it and nobody refuses it.
func taken(text string, start, end int) bool {
	from, to := sentenceAround(text, start, end)
	around := blank(text[from:to], overUser)
	// What the expression has cut out is what is declared: "I will ignore all previous instructions".
	for _, m := range begins.FindAllStringIndex(text[from:to], -1) {
		rest := strings.TrimLeft(text[from+m[1]:to], " ")
		if loc := overUser.FindStringIndex(rest); len(loc) > 0 && loc[0] == 0 && !told(text[from:from+m[0]]) {
			return true
		}
	}
	last, next := neighbours(text, from, to)
	return resolves(around) || !mentioned(around) && !refuses.MatchString(last+next) && !attacked.MatchString(last+next)
}

// setsAside reports whether a lower-case text sets the user or the operator aside somewhere. Most texts are told from
// that by the words alone, which is much quicker than the expression.
func setsAside(text string) bool {
	words := [...]string{"ignor", "disregard", "forget", "overrid", "bypass", "abandon", "aside", "instead of", "rather than", "and not"}
	return slices.ContainsFunc(words[:], func(w string) bool { return strings.Contains(text, w) }) && overUser.MatchString(text)
}

// followsContent reports whether a lower-case text declares that it follows what some content says; instead, that it does
// so against the user or the operator.
func followsContent(text string) (follows, instead bool) {
	for _, m := range contentSays.FindAllStringIndex(text, -1) {
		_, to := sentenceAround(text, m[0], m[1])
		_, to = sentenceAround(text, to, min(to+1, len(text))) // and the sentence behind it
		rest := blank(text[m[1]:to], overUser)
		if c := concludes.FindStringIndex(rest); len(c) > 0 && concluded(rest[c[0]:]) {
			follows = true
			instead = instead || overUser.MatchString(text[m[1]:to])
		}
	}
	for _, m := range obeys.FindAllStringIndex(text, -1) {
		from, to := sentenceAround(text, m[0], m[1])
		if said := blank(text[m[0]:m[1]], overUser); told(text[from:m[0]]) || refuses.MatchString(said) || strings.Contains(said, "user") {
			continue
		}
		follows = true
		instead = instead || overUser.MatchString(text[from:to])
	}
	return follows, instead
}

// concluded reports whether a conclusion is to do something, rather than not to.
func concluded(conclusion string) bool {
	b := begins.FindStringIndex(conclusion)
	return len(b) > 0 && !refuses.MatchString(conclusion[b[1]:min(b[1]+40, len(conclusion))]) && !attacked.MatchString(conclusion)
}

// blank puts spaces in place of what an expression finds.
func blank(text string, e *regexp.Regexp) string {
	return e.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// sentenceReach bounds how far, in bytes, a sentence goes on around what is looked at. Longer ones are seldom and cost time.
const sentenceReach = 600

// sentenceAround is the sentence that holds start..end, which is not empty.
func sentenceAround(text string, start, end int) (from, to int) {
	for from = start; from > 0 && start-from < sentenceReach && !endsAt(text, from-1); from-- {
	}
	for to = end; to < len(text) && to-end < sentenceReach && !endsAt(text, to-1); to++ {
	}
	return from, to
}

// neighbours are the sentences before and behind one.
func neighbours(text string, from, to int) (before, behind string) {
	if from > 0 {
		b, _ := sentenceAround(text, from-1, from)
		before = text[b:from]
	}
	if to < len(text) {
		_, e := sentenceAround(text, to, min(to+1, len(text)))
		behind = text[to:e]
	}
	return before, behind
}

// endsAt reports whether the byte at i ends a sentence.
func endsAt(text string, i int) bool {
	switch text[i] {
	case '\n':
		return true
	case '.', '!', '?':
		return i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '"' || text[i+1] == ')'
	}
	return false
}
