package detect

import (
	"slices"
	"strings"
)

const (
	localMax  = 64  // bytes of the part before the at-sign (RFC 5321, section 4.5.3.1)
	domainMax = 255 // bytes of the part behind it
)

// email looks for an address around the at-sign at i.
func (s *personal) email(i int) int {
	start, end := i, i+1
	for start > 0 && i-start < localMax && (wordByte(s.text[start-1]) || strings.IndexByte(".%+'-", s.text[start-1]) >= 0) {
		start--
	}
	for start < i && !wordByte(s.text[start]) {
		start++
	}
	for end < len(s.text) && end-i <= domainMax && (wordByte(s.text[end]) && s.text[end] != '_' || s.text[end] == '.' || s.text[end] == '-') {
		end++
	}
	for end > i+1 && !wordByte(s.text[end-1]) {
		end--
	}
	if start == i || !wordByte(s.text[i-1]) || !domain(s.text[i+1:end]) || s.text[start:i] == "git" || s.login(start) {
		return i + 1
	}
	return s.add(classEmail, certain, start, end)
}

// domain reports whether a name can receive mail: two labels at least, the last one letters and no file's extension.
func domain(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || len(last) < 2 || slices.Contains(labels, "") {
		return false
	}
	for i := range len(last) {
		if !letter(last[i]) {
			return false
		}
	}
	return !slices.Contains([]string{"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "mjs", "ts", "tsx", "json", "html", "yaml", "yml"}, lowerASCII(last))
}

// login reports whether what ends at i is the part of a URL that names a user or a password: https://user:pass@host.
func (s *personal) login(i int) bool {
	part := s.text[max(0, i-localMax):i]
	at := strings.LastIndex(part, "://")
	return at >= 0 && !strings.ContainsAny(part[at+3:], "/?=& \t\r\n\"'<>")
}

// digitsRun is the groups of digits of what may be one number.
type digitsRun []span

// digitsRow is groups of digits that follow each other, as far as they were read, and which of them was looked at last.
type digitsRow struct {
	groups []span
	at     int
}

const (
	// runMost bounds the groups of a number, and rowMost those of a row that are kept.
	runMost, rowMost = 8, 64
)

// run reads groups of digits from i on, with a blank, dot, hyphen, slash or parenthesis between them. A row is looked at group by group, and
// each is read once.
func (s *personal) run(i int) digitsRun {
	row := &s.row
	for row.at < len(row.groups) && row.groups[row.at].start < i {
		row.at++
	}
	if row.at == len(row.groups) || row.groups[row.at].start != i {
		row.groups, row.at = append(row.groups[:0], span{i, s.digitsEnd(i)}), 0
	} else if row.at > rowMost {
		row.groups, row.at = append(row.groups[:0], row.groups[row.at:]...), 0
	}
	for len(row.groups) < row.at+runMost {
		next := s.behind(row.groups[len(row.groups)-1].end)
		if !digit(s.at(next)) {
			break
		}
		row.groups = append(row.groups, span{next, s.digitsEnd(next)})
	}
	return row.groups[row.at:]
}

// digits is how many digits the groups have.
func (r digitsRun) digits() (n int) {
	for _, g := range r {
		n += g.end - g.start
	}
	return n
}

// behind is where the next group of digits may begin behind one that ends at byte i.
func (s *personal) behind(i int) int {
	for k := 0; k < 2 && i < len(s.text) && betweenDigits[s.text[i]]; k++ {
		i++
	}
	return i
}

// betweenDigits are the bytes that stand between the groups of a number.
var betweenDigits = func() (is [256]bool) {
	for _, c := range []byte(" .-/()") {
		is[c] = true
	}
	return is
}()

// upTo is how many digits the first groups have that together have most at most, and where these end.
func (r digitsRun) upTo(most int) (digits, end, groups int) {
	for _, g := range r {
		if digits+g.end-g.start > most {
			break
		}
		digits += g.end - g.start
		end = g.end
		groups++
	}
	return digits, end, groups
}

// phone looks for a telephone number whose first digit is at i.
func (s *personal) phone(i int, r digitsRun) int {
	start := i
	if c := s.before(i); c == '(' || c == '+' {
		start--
	} else if c == '-' && i > 1 && wordByte(s.text[i-2]) {
		return 0
	}
	if end := s.international(start, i, r); end > 0 {
		return end
	}
	if end := s.northAmerican(start, i, r); end > 0 {
		return end
	}
	digits, end, groups := r.upTo(13)
	if s.trunk(start, r) && s.ends(end) {
		return s.add(classPhone, weak, start, end)
	}
	if digits < 7 || !s.ends(end) || s.date(r) || groups == 1 && (digits > 12 || s.identifier(i)) || !s.nearPhone(start) && !s.isPhone(end) {
		return 0
	}
	return s.add(classPhone, weak, start, end)
}

// international is E.164: a plus sign and up to 15 digits. A single dot makes it a decimal.
func (s *personal) international(start, i int, r digitsRun) int {
	if s.text[start] != '+' || s.text[i] == '0' || wordByte(s.before(start)) || s.before(start) == ')' {
		return 0
	}
	digits, end, groups := r.upTo(15)
	if digits < 8 || !s.ends(end) || groups == 2 && s.text[r[0].end] == '.' {
		return 0
	}
	score := certain
	if groups == 1 {
		score = likely
	}
	return s.add(classPhone, score, start, end)
}

// northAmerican is (541) 714-1388 and its like, with or without a 1; ten digits in one run only beside a word for it.
func (s *personal) northAmerican(start, i int, r digitsRun) int {
	k := 0
	if len(r) > 0 && r[0].end-i == 1 && s.text[i] == '1' {
		k = 1
	}
	if len(r) < k+3 {
		return 0
	}
	area, exchange, line := r[k], r[k+1], r[k+2]
	if area.end-area.start != 3 || exchange.end-exchange.start != 3 || line.end-line.start != 4 || s.text[area.start] < '2' || s.text[exchange.start] < '2' {
		return 0
	}
	if !s.ends(line.end) && s.text[line.end]|0x20 != 'x' || len(r) > k+3 && s.text[line.end] != ' ' {
		return 0
	}
	score := certain
	if separator := s.text[exchange.end]; separator != '-' && s.text[area.end] != ')' {
		if score = likely; separator == ' ' || separator == '/' {
			score = weak
		}
	}
	if score == weak && !s.nearPhone(start) && (len(r) > k+3 || s.before(start) == ' ' && start > 1 && digit(s.text[start-2])) {
		return 0 // a row of numbers
	}
	return s.add(classPhone, score, start, line.end)
}

// date reports whether the groups are a date, 2026-01-31 or 31.01.2026.
func (s *personal) date(r digitsRun) bool {
	if len(r) < 3 {
		return false
	}
	size := func(k int) int { return r[k].end - r[k].start }
	return size(0) == 4 && s.text[r[0].start] != '0' && size(1) <= 2 && size(2) <= 2 || size(0) <= 2 && size(1) <= 2 && size(2) == 4
}

func (s *personal) nearPhone(i int) bool {
	return s.near(i, 32, &wordsPhone)
}

var wordsPhone = newVocabulary("phone", "phones", "phonenumber", "telephone", "tel", "mobile", "cell", "cellphone", "fax", "whatsapp", "sms",
	"call me at", "call me on", "call us at", "call us on", "someone call me on", "messages to", "my registered", "telefon", "telefonnummer", "handy", "mobil",
	"mobilnummer", "rufnummer", "t\u00e9l\u00e9phone", "t\u00e9l", "tel\u00e9fono", "telefono", "telefone", "m\u00f3vil", "celular", "cellulare", "puhelin", "telefoon")

// isPhone reports whether what follows the number that ends at byte i says what it is: 030 1234567-Fax.
func (s *personal) isPhone(i int) bool {
	if c := s.at(i + 1); c != 'O' && c != 'F' && c != '(' {
		return false
	}
	rest := s.text[i:min(i+8, len(s.text))]
	return strings.HasPrefix(rest, "-Office") || strings.HasPrefix(rest, "-Fax") || strings.HasPrefix(rest, " (mobil") || strings.HasPrefix(rest, " (fax") ||
		strings.HasPrefix(rest, " (cell") || strings.HasPrefix(rest, " (offic")
}

// trunk reports whether the groups are a number as it is written at home in much of the world: 0 and an area, then two groups or more
// of two to four digits, with one sort of separator.
func (s *personal) trunk(start int, r digitsRun) bool {
	first := r[0]
	if len(r) < 3 || len(r) > 5 || s.text[first.start] != '0' || s.at(first.start+1) == '0' || first.end-first.start < 3 || first.end-first.start > 5 || s.text[start] == '+' {
		return false
	}
	digits, separator := first.end-first.start, s.text[first.end]
	for k := 1; k < len(r); k++ {
		g := r[k]
		if size := g.end - g.start; size < 2 || size > 4 || s.text[g.start-1] != separator || g.start-r[k-1].end != 1 {
			return false
		}
		digits += g.end - g.start
	}
	return digits >= 9 && digits <= 11 && separator != '/' && !(start > 1 && digit(s.text[start-2]))
}
