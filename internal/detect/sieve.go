package detect

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// Sieve finds secrets and personal data in a text that grows, and says how much of it is decided. What it finds, and where a
// decision falls, follows from the text alone: it does not matter in which pieces the text came.
//
// Plain words are decided as soon as they are complete: nothing that is found consists of them. Any other token (one with
// digits or signs in it, a long one, one that is assigned to a name) may be a match or the beginning of one. From there on
// the text is held until enough has followed to know, and then looked at together with what stands before it. See token.go for
// which tokens are plain, and for each sort of match why none of it can be.
type Sieve struct {
	secrets *secrets
	set     *Set // secrets and personal data alone
	found   func([]gatehouse.Finding)
	eager   bool // the letters that the text begins with are decided before their word is complete

	buf  []byte // what is still needed of the text
	base int    // the place of its first byte in the text; all places below are ones in the text
	json bool

	at       int  // all tokens before it are known
	decided  int  // all before it is decided
	from     int  // where that begins which may be a match; -1: nothing is held
	until    int  // enough has followed from here on
	again    int  // what is held is not looked at before it has grown to here
	nameless int  // the end of the last token that may yet be named; 0: there is none
	weak     int  // tokens in a row that only several of together may be a match
	only     bool // nothing else is held
	long     bool // the last token was long, so it may go on in the next line
	block    pemState
	begun    bool // the first token is known
	valued   bool // what comes is assigned to a name
	looked   int  // bytes that detectors have been shown, what stands before included
	fails    bool // time was up

	whole   string // all of the text, where a scan of it has come first; else empty
	scanned []gatehouse.Finding
}

const (
	// sieveContext is how much is seen of what stands before, in bytes: words that tell of a number stand nearer, and so does
	// the command of a password.
	sieveContext = phraseBefore + 128
	// aheadToken is how much follows a token before it is looked at, in bytes: further groups of a number stand nearer, and
	// most of what ends a match is one byte.
	aheadToken = 12
	// aheadNameless is that of a token of at least namelessToken bytes of which nothing is known: a word behind it may say what it
	// is ([nearBefore]).
	aheadNameless, namelessToken = nearBefore + 32, 40
	// aheadPEM is that of the first and the last line of a key in PEM, which have words in them.
	aheadPEM = 64
	// longToken is the length from which a token may be an encoding.
	longToken = encodedLeast
	// heldMost is how much is held before a part of it is decided, in bytes, where it is not one long run. A match with blanks
	// (an account number in groups, say) is shorter than heldTail.
	heldMost, heldTail = 256, 64
	// heldEver is how much is held at most. It is twice as long as what chunks overlap by: the longest match.
	heldEver = 2 * chunkOverlap
	// lookedMost and lookedShare bound what detectors are shown, in bytes, in all and for each byte of the text: a long text that is
	// full of numbers is looked at in larger pieces.
	lookedMost, lookedShare = 128 << 10, 3
	// namedReach is how far before a value its name stands, in bytes.
	namedReach = 96
	// eagerMost bounds the letters that are decided before their word is complete.
	eagerMost = 15
)

// Sieve begins with an empty text. found is told what is found, in order, each time with all that was decided at once; what it is
// told once is never touched again. With eager the first letters of the text are decided at once, unless they may begin a
// secret: it is for those who take no names of people or accounts out, which may begin so. It is nil for a set that looks for
// no secrets.
func (s *Set) Sieve(eager bool, found func([]gatehouse.Finding)) *Sieve {
	keys, ok := s.named((*secrets)(nil).Name()).(*secrets)
	if !ok {
		return nil
	}
	private := &Set{watch: s.watch, cues: s.cues, detectors: []Detector{keys}}
	if d := s.named(pii{}.Name()); d != nil {
		private.detectors = append(private.detectors, d)
	}
	return &Sieve{secrets: keys, set: private, found: found, eager: eager, from: -1}
}

// Write adds to the text.
func (v *Sieve) Write(ctx context.Context, text string) {
	v.buf = append(v.buf, text...)
	v.run(ctx, false)
	v.trim()
}

// WriteWhole adds all of a text, of which a scan has found what the result says. A look at all of it is not made again.
func (v *Sieve) WriteWhole(ctx context.Context, text string, r Result) {
	if r.Complete && len(text) < chunkFrom {
		v.whole, v.scanned = text, r.Findings
	}
	v.Write(ctx, text)
}

// Close says that the text is complete. It reports whether all of it was looked at: the context may have ended before.
func (v *Sieve) Close(ctx context.Context) (complete bool) {
	v.run(ctx, true)
	return !v.fails
}

// Decided is how many bytes of the text, from its beginning, are decided: what is found later begins behind them.
func (v *Sieve) Decided() int { return v.decided }

// JSON reports whether the text begins as JSON does.
func (v *Sieve) JSON() bool { return v.json }

func (v *Sieve) end() int { return v.base + len(v.buf) }

func (v *Sieve) run(ctx context.Context, last bool) {
	if !v.begun { // white space may come alone, in a piece of its own
		v.blanks()
		begin := v.at - v.base
		v.json = looksLikeJSON(string(v.buf[begin:min(len(v.buf), begin+jsonProbe)]))
	}
	for !v.fails {
		v.blanks()
		t, ok := v.token(last)
		if !ok {
			break
		}
		v.take(ctx, t)
	}
	if last && v.from >= 0 && !v.fails {
		v.settle(ctx, true)
	}
}

// blanks goes on to the next token.
func (v *Sieve) blanks() {
	for v.at < v.end() && v.buf[v.at-v.base] <= ' ' {
		v.at++
	}
	if v.from < 0 {
		v.decided = max(v.decided, v.at)
	}
}

// take decides what a token means for what is held.
func (v *Sieve) take(ctx context.Context, t token) {
	start := v.at
	v.at, v.begun = t.end, true
	v.valued = t.names && v.named()
	if t.kind != plainToken && v.from < 0 {
		v.from, v.only, v.weak = max(start, v.decided), true, 0
		v.again = v.from + heldMost
	}
	switch t.kind {
	case plainToken:
		switch {
		case v.from >= 0 && v.only:
			v.from = -1 // a number or a letter alone
		case v.from >= 0 && v.at >= v.until:
			v.settle(ctx, false)
		}
	case weakToken:
		if v.weak++; v.weak >= weakMost {
			v.only = false
		}
		v.until = max(v.until, v.at+aheadToken)
	case oddToken:
		v.only, v.weak, v.long = false, 0, v.at-start >= longToken
		v.block = v.block.after(v.buf[start-v.base : v.at-v.base])
		v.until = max(v.until, v.at+aheadToken)
		if v.block != outsidePEM && !v.long {
			v.until = max(v.until, v.at+aheadPEM)
		}
		if v.at-start >= namelessToken {
			v.nameless = v.at
		}
	}
	if v.from < 0 {
		v.decided = v.at
	} else if v.at >= v.again && !v.long && v.block == outsidePEM || v.at-v.from >= heldEver {
		v.part(ctx)
	}
}

// named reports whether what stands before holds the name of something secret.
func (v *Sieve) named() (yes bool) {
	v.secrets.words.each(string(v.buf[max(0, v.at-v.base-namedReach):v.at-v.base]), func(word uint32, _ int) bool {
		yes = slices.ContainsFunc(v.secrets.byWord[word], func(k keyword) bool { return k.use == names })
		return !yes
	})
	return yes
}

// settle decides all that is held, unless something in it may still go on.
func (v *Sieve) settle(ctx context.Context, last bool) {
	list, ok := v.look(ctx, last)
	if !ok {
		return
	}
	if n := len(list); n > 0 && !last && list[n-1].End > v.at-beyond && v.at-v.from < heldEver {
		v.until = v.at + aheadToken
		return
	}
	if to := v.nameless + aheadNameless; v.nameless > 0 && !last && v.at < to && !slices.ContainsFunc(list, func(f gatehouse.Finding) bool { return f.Start < v.nameless && v.nameless <= f.End }) {
		v.until = to
		return
	}
	v.decide(list, v.at)
	v.from, v.until, v.nameless, v.block = -1, 0, 0, outsidePEM
}

// part decides what is held but for its end, where a match may have begun, so that what is held does not grow without bound.
func (v *Sieve) part(ctx context.Context) {
	list, ok := v.look(ctx, v.at-v.from >= heldEver)
	if !ok {
		return
	}
	to := v.border(max(v.from, v.at-heldTail))
	k := len(list)
	for k > 0 && list[k-1].End > to {
		k--
		to = min(to, list[k].Start)
	}
	if to <= v.from {
		if v.again = v.from + 2*(v.at-v.from); v.at-v.from < heldEver {
			return
		}
		k, to = len(list), v.at
	}
	v.decide(list[:k], to)
	v.from, v.again = to, to+heldMost
}

// border is the last beginning of a token up to a place.
func (v *Sieve) border(at int) int {
	i := at - v.base
	for i > v.from-v.base && v.buf[i-1] > ' ' {
		i--
	}
	return i + v.base
}

// look is what is found in what is held, in the order of its ends. It is not ok when time was up, or when so much has been looked
// at before that more has to gather, unless there is no time for that.
func (v *Sieve) look(ctx context.Context, now bool) (list []gatehouse.Finding, ok bool) {
	if !v.suspect() {
		return nil, true
	}
	if !now && v.looked > lookedMost+lookedShare*v.at {
		v.until, v.again = v.at+heldMost, v.at+heldMost
		return nil, false
	}
	begin := max(0, v.from-v.base-sieveContext)
	for begin > 0 && begin < v.from-v.base && !utf8.RuneStart(v.buf[begin]) {
		begin++
	}
	text := string(v.buf[begin : v.at-v.base])
	v.looked += len(text)
	all, known := v.known(text)
	if !known {
		all = v.set.chunk(ctx, Text{Channel: Output, Text: text}, 0, len(text), form{v.json, looksLikeHTML(text, v.json)}, nil)
	}
	if ctx.Err() != nil {
		v.fails = true
		return nil, false
	}
	for _, f := range tidy(all) {
		f.Start, f.End = max(f.Start+begin+v.base, v.from), f.End+begin+v.base
		if f.End > f.Start {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b gatehouse.Finding) int { return a.End - b.End })
	return list, true
}

// known is what the scan has found of a text, where it was of this very text and read it in the same form.
func (v *Sieve) known(text string) (list []gatehouse.Finding, ok bool) {
	if v.whole == "" || text != v.whole || v.json != looksLikeJSON(text) {
		return nil, false
	}
	for _, f := range v.scanned {
		if f.Kind == "secret" || f.Kind == "pii" {
			list = append(list, f)
		}
	}
	return list, true
}

// suspect reports whether what is held is worth a look: it has a word of a rule for secrets in it or before it, an encoding may
// be in it, or a number or a sign as personal data have them. Most that has to be held has none of it.
func (v *Sieve) suspect() (yes bool) {
	held := v.buf[v.from-v.base : v.at-v.base]
	if v.json || v.weak >= weakMost || v.block != outsidePEM || personalSigns(held) {
		return true
	}
	before := max(0, v.from-v.base-nearAfter)
	v.secrets.words.each(string(v.buf[before:v.at-v.base]), func(word uint32, end int) bool {
		back := v.from - v.base - before - end // from the end of the word to what is held
		yes = slices.ContainsFunc(v.secrets.byWord[word], func(k keyword) bool {
			return k.use == nearby || k.use == names && back < namedReach || k.use == begins && (back < 0 || v.secrets.rules[k.rule].spaced)
		})
		return !yes
	})
	return yes
}

// personalSigns reports whether a text holds what personal data, or an encoding, cannot do without.
func personalSigns(text []byte) bool {
	digits, run, colons, size := 0, 0, 0, 0
	for i, c := range text {
		switch {
		case digit(c):
			digits++
		case c == '@', c == '%', c == '\\', c >= utf8.RuneSelf, c == '&' && i+1 < len(text) && text[i+1] > ' ', c == '=' && i+1 < len(text) && (text[i+1] == '?' || digit(text[i+1])):
			return true
		case c == ':':
			colons++
		case letter(c) && (i == 0 || letter(text[i-1])), c == ',', c == '\n':
			digits = 0
		}
		if run++; c <= ' ' {
			run, colons = 0, 0
		}
		if tokenKinds[c] == 0 {
			size = 0
		} else {
			size++
		}
		if digits >= 5 || colons > 1 || size >= longToken {
			return true
		}
	}
	return false
}

func (v *Sieve) decide(list []gatehouse.Finding, to int) {
	if len(list) > 0 {
		v.found(list)
	}
	v.decided = to
}

// trim forgets what is needed no more.
func (v *Sieve) trim() {
	keep := v.at
	if v.from >= 0 {
		keep = v.from
	}
	if n := keep - v.base - sieveContext; n > 2*sieveContext {
		v.buf = bytes.Clone(v.buf[n:])
		v.base += n
	}
}

// eagerly is how many letters of the token that the text begins with are decided although it is not complete: those that no
// secret begins with.
func (v *Sieve) eagerly() int {
	if !v.eager || v.json || v.begun {
		return 0
	}
	word := v.buf[v.at:]
	n := 0
	for n < min(len(word), eagerMost) && letter(word[n]) && (n == 0 || word[n] >= 'a') {
		n++
	}
	low := lowerASCII(string(word[:n]))
	for _, r := range v.secrets.rules {
		for i, k := range r.keywords {
			if r.uses[i] == begins && (strings.HasPrefix(k, low) || strings.HasPrefix(low, k)) {
				return 0
			}
		}
	}
	return n
}
