package detect

import "strings"

// plainWords are common words, and words that orders to a machine are made of. Decodings that only guess are kept where these come out.
const plainWords = `a i the be to of and in that have it for not on with he as you do at this but his by from they we say her she or an will
my one all would there their what so up out if about who get which go me when make can like time no just him know take people into year your
good some could them see other than then now look only come its over think also back after use two how our work first well way even new
want because any these give day most us is are was were been has had did am more must should here through before between both each own same
too very may such where why again without within against until while during please ignore disregard forget override bypass previous prior
above earlier instruction instructions rule rules prompt prompts system developer user users assistant model agent message messages reveal
show print tell send forward email mail reply post upload download delete remove open run execute call write read copy move transfer pay
buy order share publish submit add create change update set reset password passwords secret secrets key keys token tokens credential
credentials account accounts bank money payment invoice file files folder archive document documents data database record records address
link url website site page server code command commands tool tools task tasks follow answer instead respond repeat output input text
everything anything nothing something someone everyone always never do don not secretly quietly immediately urgent important note attention
warning security admin administrator root access grant permission permissions private public key customer customers client clients
contact contacts list number numbers phone name names calendar meeting report reports review approve approved confirm cancel book booking
hotel flight ticket tickets issue pull request branch merge commit push repository install config configuration settings setting enable
disable stop start begin end next last new old full complete completely entire whole every information content contents context
conversation history chat attach attached attachment include including contain contains using via example safety filter filters restrictions
restriction limit limits mode jailbreak pretend act role play character story harmful illegal bomb weapon drugs hack exploit malware
virus steal kill poison explosive how make build guide steps step detailed explain describe generate provide help need let keep hidden`

var wordSet = func() map[string]struct{} {
	set := map[string]struct{}{}
	for w := range strings.FieldsSeq(plainWords) {
		set[w] = struct{}{}
	}
	return set
}()

// wordMarks are the places of common words in a bitmap that stays in the first-level cache: most words are seen not to be one.
var wordMarks = func() (marks [1 << 12 / 64]uint64) {
	for w := range wordSet {
		marks[wordMark(w)/64] |= 1 << (wordMark(w) % 64)
	}
	return marks
}()

// wordMark is the place of a word in the bitmap (multiplicative hashing, Knuth).
func wordMark(w string) uint32 {
	n := len(w)
	return (uint32(w[0]) | uint32(w[n/2])<<8 | uint32(w[n-1])<<16 | uint32(n)<<24) * 2654435769 >> 20 //nolint:gosec // words are short
}

// common reports whether a word in lower case is a common one.
func common(word string) bool {
	if word == "" || len(word) > wordMost {
		return false
	}
	mark := wordMark(word)
	if wordMarks[mark/64]>>(mark%64)&1 == 0 {
		return false
	}
	_, ok := wordSet[word]
	return ok
}

// commonWords counts the common words of a text that have more than two letters, until there are enough.
func commonWords(text string, enough int) int {
	n := 0
	for w := range strings.FieldsSeq(text) {
		if w = strings.Trim(w, ".,:;!?\"'()"); len(w) < 3 || len(w) > wordMost {
			continue
		}
		var low [wordMost]byte
		for i := range len(w) {
			if low[i] = w[i]; capital(w[i]) {
				low[i] |= 0x20
			}
		}
		if common(string(low[:len(w)])) {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}
