package provenance

import (
	"bytes"
	"strings"
)

const (
	maxGroups  = 12 // of a grouped account or number
	maxAccount = 40 // letters and digits; an IBAN has 34 at most
	minGrouped = 6  // digits from which groups are more than a date or a score
)

// whole is a run of words that is one thing in another writing, such as 1,000.00 or DE89 3704 0044 0532 0130 00.
type whole struct {
	hash        uint64
	first, last int // words
}

// placed is a whole by the place of its first word.
type placed struct {
	hash  uint64
	place int32
}

func (t *tokens) placed(w whole) placed { return placed{w.hash, t.list[w.first].place} }

// wholes calls out the formatted numbers and the grouped accounts of a text.
func (t *tokens) wholes(out func(whole)) {
	for i := 0; i < len(t.list); i++ {
		if t.list[i].digits == 0 {
			continue
		}
		t.grouped(i, out)
		if t.list[i].number() && (i == 0 || !t.list[i-1].number() || !formats(t.list[i])) {
			t.formatted(i, out)
		}
	}
}

// grouped calls out every run of groups that begins with the word at i.
func (t *tokens) grouped(i int, out func(whole)) {
	digits := t.list[i].digits
	for j := i + 1; j < len(t.list) && j < i+maxGroups; j++ {
		w := t.list[j]
		if w.class != alphabet || w.gap != ' ' && w.gap != '-' && w.gap != wide || w.end-t.list[i].start > maxAccount {
			return
		}
		if w.digits == 0 && w.end-w.start > 4 {
			return
		}
		if digits += w.digits; w.digits > 0 && digits >= minGrouped {
			out(whole{t.hash(t.list[i].start, w.end), i, j})
		}
	}
}

// formats reports whether the gap before a group of digits can be part of a number.
func formats(w word) bool {
	switch w.gap {
	case ',', '.', '\'', '_':
		return true
	case ' ':
		return w.end-w.start == 3
	}
	return false
}

// formatted calls out what the number that begins at i may mean: 1.000 is a thousand to some, and one to others.
func (t *tokens) formatted(i int, out func(whole)) {
	j := i
	for j+1 < len(t.list) && j-i < maxGroups && t.list[j+1].number() && formats(t.list[j+1]) {
		if t.list[j+1].gap == ' ' && j > i && t.list[j].gap != ' ' {
			break
		}
		j++
	}
	if j == i {
		return
	}
	last := t.list[j]
	if t.thousands(i, j) {
		out(whole{t.decimal(t.list[i].start, last.end, last.end), i, j})
	}
	if (last.gap == '.' || last.gap == ',') && t.thousands(i, j-1) && (j == i+1 || t.list[j-1].gap != last.gap) {
		out(whole{t.decimal(t.list[i].start, last.start, last.end), i, j})
	}
}

// thousands reports whether the groups i..j are those of one whole number.
func (t *tokens) thousands(i, j int) bool {
	first := t.list[i]
	if j > i && first.end-first.start > 3 {
		return false
	}
	for k := i + 1; k <= j; k++ {
		if w := t.list[k]; w.end-w.start != 3 || w.gap != t.list[i+1].gap {
			return false
		}
	}
	return true
}

// decimal is the hash of a number in plain digits, without zeros that say nothing.
func (t *tokens) decimal(start, point, end int) uint64 {
	front := bytes.TrimLeft(t.dense[start:point], "0")
	behind := bytes.TrimRight(t.dense[point:end], "0")
	return t.word(plain(front, behind))
}

func plain(front, behind []byte) []byte {
	if len(front) == 0 {
		front = []byte("0")
	}
	out := append(make([]byte, 0, len(front)+1+len(behind)), front...)
	if len(behind) > 0 {
		out = append(append(out, '.'), behind...)
	}
	return out
}

// maxExponent bounds how far a number is written out.
const maxExponent = 40

// decimalText is a JSON number in plain digits and without its sign: 1e3 is 1000, 12.50 is 12.5.
func decimalText(number string) string {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	front, behind, _ := strings.Cut(mantissa, ".")
	exponent := 0
	for _, c := range strings.TrimLeft(power, "+-") {
		if exponent = exponent*10 + int(c-'0'); c < '0' || c > '9' || exponent > maxExponent {
			return number
		}
	}
	switch {
	case strings.HasPrefix(power, "-"):
		front = strings.Repeat("0", exponent) + front
		front, behind = front[:len(front)-exponent], front[len(front)-exponent:]+behind
	case exponent > 0:
		behind += strings.Repeat("0", max(0, exponent-len(behind)))
		front, behind = front+behind[:exponent], behind[exponent:]
	}
	return string(plain([]byte(strings.TrimLeft(front, "0")), []byte(strings.TrimRight(behind, "0"))))
}
