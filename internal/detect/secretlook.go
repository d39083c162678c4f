package detect

import (
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	// nearBefore and nearAfter bound how far from a keyword a secret stands that the keyword is no part of, in bytes.
	nearBefore, nearAfter = 128, 384
	// phraseBefore and phraseMost bound what is seen of a match with white space, before a keyword and behind it.
	phraseBefore, phraseMost = 512, 1 << 10
	// blockRule is the rule about keys in PEM, which are as long as chunks overlap.
	blockRule = "private-key"
	// beyond is what an expression sees behind the longest match.
	beyond = 8
	// triesMost bounds the tries of one rule that fail within triesReach of each other.
	triesMost, triesReach = 5, 64
	// phrasesMost is that of rules with white space in their matches.
	phrasesMost = 2
)

// secretLook is one look through a text.
type secretLook struct {
	*secrets
	text     string
	byWord   [][]keyword // word → the rules that it is by
	all      []gatehouse.Finding
	progress []progress // by rule
	verdicts map[verdict]bool
	unbroken span // no line ends in it
}

// verdict is what an allowlist was asked about.
type verdict struct {
	rule        *secretRule
	match, line string
}

// progress is how far a rule has come.
type progress struct {
	done  int // nothing before this byte is looked at again
	tried int // behind where it was tried last; 0: nowhere
	fails int // in a row
	bare  int // up to here what must stand behind a keyword does not
}

// look tries a rule around a keyword that ends at byte end.
func (l *secretLook) look(k keyword, end int) {
	r := l.rules[k.rule]
	switch k.use {
	case names:
		if v := valueOf(l.text, end); v >= 0 {
			l.assigned(k.rule, end-k.size, v)
		}
	case begins:
		start := end - k.size
		if r.bounded && start > 0 && wordByte(l.text[start-1]) || !r.spaced && !l.longer(start, r.least) || r.spaced && !l.plausible(k.rule, end) {
			return
		}
		most := triesMost
		if r.spaced {
			most = phrasesMost
		}
		if p := l.at(k.rule); p.tries(start, most) {
			l.try(r, p, r.begin(), start, start, start+r.reach())
		}
	case nearby:
		l.around(k, end)
	}
}

func (l *secretLook) at(rule int) *progress {
	if l.progress == nil {
		l.progress = make([]progress, len(l.rules))
	}
	return &l.progress[rule]
}

// tries reports whether a rule is to be tried at byte i.
func (p *progress) tries(i, most int) bool {
	if i < p.done || i+1 == p.tried {
		return false
	}
	if i+1-p.tried > triesReach {
		p.fails = 0
	}
	p.tried = i + 1
	return p.fails < most
}

// reach is how much of a text one try of a rule sees.
func (r *secretRule) reach() int {
	if r.spaced && r.most == endless && r.id != blockRule {
		return phraseMost
	}
	return r.most
}

// assigned tries a rule on the value that begins at byte v.
func (l *secretLook) assigned(rule, word, v int) {
	r := l.rules[rule]
	if !valueLonger(l.text, v, r.least, r.id != genericRule) {
		return
	}
	p := l.at(rule)
	if !p.tries(v, triesMost) {
		return
	}
	if r.tailed && !valueEnds(l.text, v, r.most+beyond) {
		p.fails++
		return
	}
	name := nameStart(l.text, word)
	if l.try(r, p, r.value(), name, v, v+r.most) || l.text[v-1] != '"' {
		return
	}
	l.try(r, p, r.value(), name, v-1, v+r.most) // the value is one in quotation marks
}

// longer reports whether a word of size bytes begins at byte i.
func (l *secretLook) longer(i, size int) bool {
	if i+size > len(l.text) {
		return false
	}
	for _, c := range []byte(l.text[i : i+size]) {
		if c <= ' ' {
			return false
		}
	}
	return true
}

// around tries a rule on the words around a keyword that are long enough, or on all that is there where a match has several words.
func (l *secretLook) around(k keyword, end int) {
	r, text := l.rules[k.rule], l.text
	if r.id == kubernetesRule {
		l.manifest(k.rule, end-k.size, end)
		return
	}
	p := l.at(k.rule)
	from, to := max(end-nearBefore, p.done, 0), min(end+nearAfter, len(text))
	if to <= from {
		return
	}
	if r.spaced {
		if l.plausible(k.rule, end) && p.tries(end, phrasesMost) {
			l.search(r, p, runeStart(text, max(end-phraseBefore, p.done)), runeStart(text, min(end+phraseMost, len(text))))
		}
		return
	}
	for from > max(p.done, end-triesReach*nearBefore) && !breaks(text[from-1]) {
		from--
	}
	for i := from; i < to; {
		for i < to && breaks(text[i]) {
			i++
		}
		start := i
		for i < len(text) && i-start < endless && !breaks(text[i]) {
			i++
		}
		if i-start >= r.least-1 {
			l.search(r, p, max(start-1, 0), min(i+1, len(text)))
		}
		p.done = max(p.done, i)
	}
}

// breaks reports whether a byte ends a word: no token without white space holds it.
func breaks(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`'
}

// plausible reports whether what a rule with white space in its matches asks for stands behind a keyword.
func (l *secretLook) plausible(rule, end int) bool {
	mark := ""
	switch l.rules[rule].id {
	case "curl-auth-header":
		mark = "-h"
	case "curl-auth-user":
		mark = "-u"
	case "freemius-secret-key":
		mark = "=>"
	default:
		return true
	}
	p := l.at(rule)
	from, to := max(end, p.bare), min(end+phraseMost, len(l.text))
	for i := from; i+1 < to; i++ {
		if l.text[i] == mark[0] && l.text[i+1]|0x20 == mark[1]|0x20 {
			return true
		}
		p.bare = i + 1 // it was looked at for another keyword, and need not be again
	}
	return false
}

// search finds the secrets of a rule in a part of the text.
func (l *secretLook) search(r *secretRule, p *progress, from, to int) {
	for from < to {
		e := r.search()
		m := e.find(l.text[from:to])
		if m == nil {
			return
		}
		l.report(r, e, m, from, from+m[0])
		p.done = from + m[1]
		from += max(m[1], 1)
	}
}

// try reports whether a secret of a rule begins at byte i and ends at byte to or before. What names it begins at byte name.
func (l *secretLook) try(r *secretRule, p *progress, e *expression, name, i, to int) bool {
	end := runeStart(l.text, min(to+beyond, len(l.text)))
	m := e.find(l.text[i:end])
	if m == nil {
		p.fails++
		return false
	}
	p.fails, p.done = 0, i+m[1]
	l.report(r, e, m, i, name)
	return true
}

// report notes the secret of a match that stands in the text from byte at on, unless it is one that is allowed.
func (l *secretLook) report(r *secretRule, e *expression, m []int, at, name int) {
	from, to := r.secret(e, m)
	from, to = at+from, at+to
	if from >= to {
		return
	}
	hit := candidate{secret: strings.Trim(l.text[from:to], `"`), match: l.text[name:min(at+m[1], to+1)]}
	if r.entropy > 0 && entropy(hit.secret) <= r.entropy {
		return
	}
	if r.lined {
		hit.line = l.line(name, at+m[1])
	}
	if l.forgiven(r, hit) {
		return
	}
	if !r.spaced && r.value == nil && to == at+m[1] {
		to = wordRest(l.text, to)
	}
	l.add(r, from, to)
}

// verdictsMost bounds what is remembered of allowlists: their expressions take longer than all else, and texts repeat themselves.
const verdictsMost = 256

// forgiven reports whether an allowlist has a match.
func (l *secretLook) forgiven(r *secretRule, hit candidate) bool {
	key := verdict{r, hit.match, hit.line}
	known, ok := l.verdicts[key]
	if ok {
		return known
	}
	known = r.leniency().allows(hit)
	if l.verdicts == nil {
		l.verdicts = map[verdict]bool{}
	}
	if len(l.verdicts) < verdictsMost {
		l.verdicts[key] = known
	}
	return known
}

func (l *secretLook) add(r *secretRule, from, to int) {
	if len(l.all) == cap(l.all) {
		l.all = slices.Grow(l.all, 3*len(l.all)+1) // where there are many, there are more
	}
	l.all = append(l.all, gatehouse.Finding{
		Kind: "secret", Type: r.id, Detector: "secrets/" + r.id, Score: 1, Severity: gatehouse.Critical, Start: from, End: to,
	})
}

// wordRest is the end of the word that goes on at byte i: some rules know how a token begins, or how long it was once.
func wordRest(text string, i int) int {
	if i < len(text) && wordByte(text[i]) {
		for i < len(text) && tokenKinds[text[i]] != 0 {
			i++
		}
	}
	return i
}

// lineReach bounds what is seen of the line around a match, to either side, in bytes.
const lineReach = 256

// line is the line that holds a match.
func (l *secretLook) line(from, to int) string {
	low, high := max(from-lineReach, 0), min(to+lineReach, len(l.text))
	start := low
	if l.unbroken.start <= low && low < l.unbroken.end {
		start = min(l.unbroken.end, from)
	}
	if i := strings.LastIndexByte(l.text[start:from], '\n'); i >= 0 {
		low = start + i + 1
		l.unbroken = span{low, from}
	} else if start == low {
		l.unbroken = span{low, from}
	} else {
		l.unbroken.end = max(l.unbroken.end, from)
	}
	if i := strings.IndexByte(l.text[to:high], '\n'); i >= 0 {
		high = to + i
	}
	return l.text[low:high]
}
