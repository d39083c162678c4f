package deed

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minCode is the length from which a run of letters and digits is taken for a code, in bytes; maxCode is where it is cut.
const minCode, maxCode = 24, 64 << 10

// Carried is what a text holds that is not hidden in it but written as a code throughout: a string of JSON that is base64 and
// nothing else. It is empty for most texts.
func Carried(text string) string {
	if hintsOf(text).longest < minCode {
		return ""
	}
	_, alone := codes(text)
	return alone
}

// Undisguised are the texts that a text hides from who only reads it as it stands: behind base64, hexadecimal digits, letters
// moved by thirteen or written backwards, digits for letters, letters that stand apart, and characters that nobody sees. Most
// texts hide none. None is longer than the text.
func Undisguised(text string) []string {
	var out []string
	add := func(hidden string) {
		if hidden != "" {
			out = append(out, hidden)
		}
	}
	h := hintsOf(text)
	if h.longest >= minCode {
		within, _ := codes(text)
		add(within)
	}
	add(tags(text))
	if h.rotated > 1 {
		add(rotated(text))
	}
	if h.reversed > 1 {
		add(reversed(text))
	}
	if h.mixed >= minMixed {
		add(leet(text))
	}
	if h.lone >= minLone {
		add(apart(text))
	}
	return out
}

const (
	minMixed = 4 // words of letters and digits from which the digits are taken for letters
	minLone  = 6 // letters in a row that stand apart
)

// hints are what a text shows of what it hides.
type hints struct {
	rotated, reversed int // words that are none, but would be the commonest ones
	mixed             int // words of letters and of digits that look like some
	lone              int // the longest row of single letters
	longest           int // bytes of the longest word
}

func hintsOf(text string) hints {
	var h hints
	start, row := 0, 0
	digit, alpha := false, false
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] > ' ' {
			c := text[i]
			digit = digit || c >= '0' && c <= '8'
			alpha = alpha || letter(c)
			continue
		}
		word := text[start:i]
		start = i + 1
		h.longest = max(h.longest, len(word))
		switch n := len(word); {
		case n == 0:
			continue
		case n == 2 || n == 3:
			switch strings.ToLower(word) {
			case "gur", "naq", "gb", "bs", "vg":
				h.rotated++
			case "eht", "dna", "ot", "fo", "ti":
				h.reversed++
			}
		}
		if row++; utf8.RuneCountInString(word) > 1 {
			row = 0
		}
		h.lone = max(h.lone, row)
		if digit && alpha {
			h.mixed++
		}
		digit, alpha = false, false
	}
	return h
}

// codes are the readable texts within runs of base64 and of hexadecimal digits: those that stand in another text, and those
// that are strings of their own.
func codes(text string) (within, alone string) {
	var b, c strings.Builder
	for i, end, pure := 0, -1, false; i < len(text); {
		if i > end {
			end, pure = stringAt(text, i)
		}
		start := i
		for i < len(text) && (alnum(text[i]) || strings.IndexByte("+/-_=", text[i]) >= 0) {
			i++
		}
		if run := strings.TrimRight(text[start:i], "="); len(run) >= minCode && len(run) <= maxCode {
			if plain := decoded(run); plain != "" {
				if pure {
					c.WriteString(plain + "\n")
				} else {
					b.WriteString(plain + "\n")
				}
			}
		}
		if i == start {
			i++
		}
	}
	return b.String(), c.String()
}

// stringAt is where the string ends that begins here, and whether it is one word, in lines or not.
func stringAt(text string, at int) (end int, pure bool) {
	end = strings.IndexByte(text[at:], Separator)
	if end < 0 {
		end = len(text) - at
	}
	return at + end, !strings.ContainsAny(strings.TrimSpace(text[at:at+end]), " \t")
}

func decoded(run string) string {
	if plain, err := hex.DecodeString(run); err == nil && readable(plain) {
		return string(plain)
	}
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	if plain, err := base64.RawStdEncoding.DecodeString(run); err == nil && readable(plain) {
		return string(plain)
	}
	return ""
}

// readable reports whether bytes are a text with words in it.
func readable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	spaces := 0
	for _, c := range string(b) {
		if c == ' ' {
			spaces++
		}
		if unicode.IsControl(c) && !unicode.IsSpace(c) || c == utf8.RuneError {
			return false
		}
	}
	return spaces > 1 || spaces == 0 && !isASCII(b)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || letter(c) }

func letter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

// tags are the characters of Unicode's block of tags, which repeats ASCII unseen.
func tags(text string) string {
	if !strings.Contains(text, "\U000e0020"[:3]) {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if c >= 0xe0020 && c <= 0xe007e {
			return c - 0xe0000
		}
		return -1
	}, text)
}

// rotated is a text whose letters were moved by thirteen: the and to stand there as gur and gb.
func rotated(text string) string {
	out := []byte(text)
	for i, c := range out {
		if letter(c) {
			base := c &^ 0x1f
			out[i] = base + 1 + (c-base-1+13)%26
		}
	}
	return string(out)
}

// reversed is a text that was written backwards.
func reversed(text string) string {
	out := []rune(text)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// leet is a text with letters for the digits that look like them.
func leet(text string) string {
	const digits, letters = "0134578", "oieastb"
	return strings.Map(func(c rune) rune {
		if i := strings.IndexRune(digits, c); i >= 0 {
			return rune(letters[i])
		}
		return c
	}, text)
}

// apart are the words whose letters stand apart: s e n d. More room than one space, or a line, divides two of them.
func apart(text string) string {
	var b strings.Builder
	row := make([]string, 0, minLone)
	flush := func() {
		if len(row) >= minLone {
			b.WriteString(strings.Join(row, "") + " ")
		}
		row = row[:0]
	}
	for field := range strings.SplitSeq(text, " ") {
		word := strings.TrimSpace(field)
		switch {
		case utf8.RuneCountInString(word) == 1:
			row = append(row, word)
		case word == "" && len(row) > 0:
			row = append(row, " ")
		default:
			flush()
		}
	}
	flush()
	return strings.TrimSpace(b.String())
}
