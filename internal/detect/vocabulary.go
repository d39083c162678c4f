package detect

// vocabulary is words that say what a number is, in lower case, by their first letters. Blanks in them stand for themselves.
type vocabulary [26][]string

func newVocabulary(words ...string) (v vocabulary) {
	for _, w := range words {
		v[w[0]-'a'] = append(v[w[0]-'a'], w)
	}
	return v
}

// near reports whether one of the words stands in the reach bytes before i. A capital letter begins a word as a blank does:
// homePhone has two.
func (s *personal) near(i, reach int, v *vocabulary) bool {
	from := max(0, i-reach)
	at, bare := from, true
	if s.bare.start <= from && from < s.bare.end {
		at = s.bare.end
	}
	for ; at < i; at++ {
		c := s.text[at] | 0x20
		if c < 'a' || c > 'z' {
			continue
		}
		if bare = false; at > from && letter(s.text[at-1]) && !capital(s.text[at]) {
			continue
		}
		for _, w := range v[c-'a'] {
			if s.wordAt(at, i, w) {
				return true
			}
		}
	}
	switch {
	case !bare:
	case s.bare.start <= from && from < s.bare.end:
		s.bare.end = max(s.bare.end, i)
	default:
		s.bare = span{from, i}
	}
	return false
}

// wordAt reports whether a word stands at byte at and ends before byte end.
func (s *personal) wordAt(at, end int, word string) bool {
	to := at + len(word)
	if to > end || to < end && letter(s.text[to]) && !capital(s.text[to]) {
		return false
	}
	for k := 1; k < len(word); k++ {
		c := s.text[at+k]
		if capital(c) {
			c |= 0x20
		}
		if c != word[k] && (word[k] != ' ' || c != '_' && c != '-') {
			return false
		}
	}
	return true
}
