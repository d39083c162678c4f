package detect

import (
	"context"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// PII is the classes of personal data that are found, as findings name them in Type, the most sensitive first.
func PII() []string {
	return []string{classCard, classSSN, classNational, classDocument, classIBAN, classBirth, classEmail, classPhone, classIP, classAddress}
}

const (
	classCard    = "card"
	classSSN     = "ssn"
	classIBAN    = "iban"
	classEmail   = "email"
	classPhone   = "phone"
	classIP      = "ip"
	classAddress = "address"

	classNational = "national_id"
	classDocument = "document"
	classBirth    = "birth_date"
)

const (
	// certain is the score of what its own form proves.
	certain = 1.0
	// likely is the score of what has the form, and no word near it that says so.
	likely = 0.8
	// weak is the score of forms that other things have too.
	weak = 0.6
)

// pii finds personal data by its form: a check sum, a syntax, a word beside it. It looks at digits, colons and at-signs alone,
// in the text with escapes undone, and each look is bounded, so that its work is linear.
type pii struct{}

func (pii) Name() string { return "pii" }

func (pii) Detect(ctx context.Context, _ Text, n *Normalized) []gatehouse.Finding {
	s := personal{unescaped: n.unescaped(), json: n.json}
	text := s.text
	for i, next := 0, 0; i < len(text); i = next {
		c := text[i]
		if next = i + 1; c > '@' || c < '0' {
			continue
		}
		switch {
		case c <= '9':
			next = s.number(i)
		case c == ':':
			next = s.colon(i)
		case c == '@':
			next = s.email(i)
		}
		if next > i+1 && ctx.Err() != nil {
			break
		}
	}
	s.postcodes()
	return s.back(s.all)
}

// personal is one look through a text.
type personal struct {
	unescaped
	json  bool
	all   []gatehouse.Finding
	codes []span // postal codes that wait for an address beside them

	bare   span // no letter stands in it
	row    digitsRow
	colons span // the groups with colons between them that were looked at last
}

// add notes a finding and returns its end.
func (s *personal) add(class string, score float64, start, end int) int {
	severity := gatehouse.Info
	switch class {
	case classCard, classSSN:
		severity = gatehouse.Critical
	case classIBAN, classNational, classDocument:
		severity = gatehouse.Warn
	}
	s.all = append(s.all, gatehouse.Finding{
		Kind: "pii", Type: class, Detector: "pii/" + class, Score: score, Severity: severity, Start: start, End: end,
	})
	return end
}

// number looks at what begins with the digit at i, which follows no digit that was looked at, and returns where to go on.
func (s *personal) number(i int) int {
	c := s.before(i)
	if capital(c) {
		return s.lettered(i)
	}
	if wordByte(c) || c == '.' && i > 1 && digit(s.text[i-2]) {
		return s.wordEnd(i) // part of a name, an identifier, a decimal or a version
	}
	end := s.digitsEnd(i)
	if end-i < shortNumber && !s.goesOn(end) {
		if s.postalCode(i, end) {
			s.add(classAddress, likely, i, end)
		}
		return s.wordEnd(end)
	}
	if date := s.isoDate(i, end); date > 0 {
		if c != '\n' && i > 0 {
			s.birth(i, s.run(i))
		}
		return date // else a line of a log begins
	}
	r := s.run(i)
	long := r.digits() >= shortNumber || s.digitsAhead(i) >= shortNumber
	if found := s.whole(i, r, long); found > 0 {
		return found
	}
	return s.wordEnd(end)
}

// lettered looks at a number whose form may begin with letters.
func (s *personal) lettered(i int) int {
	if end := s.iban(i); end > 0 {
		return end
	}
	if end := s.named(i); end > 0 {
		return end
	}
	return s.wordEnd(i)
}

// whole looks at a number whose first digits no letter stands before; one that is not long has few forms.
func (s *personal) whole(i int, r digitsRun, long bool) int {
	if long {
		if end := s.named(i); end > 0 {
			return end
		}
	}
	if end := s.ipv4(i); end > 0 {
		return end
	}
	if end := s.birth(i, r); end > 0 || !long {
		return end
	}
	if end := s.card(i, r[0].end); end > 0 {
		return end
	}
	if end := s.ssn(i, r[0].end); end > 0 {
		return end
	}
	return s.phone(i, r)
}

// named looks at a number that a state has given to a person.
func (s *personal) named(i int) int {
	if end := s.national(i); end > 0 {
		return end
	}
	return s.document(i)
}

// shortNumber is the length from which digits in one run are a number of something.
const shortNumber = 6

// digitsAhead is how many digits stand from byte i on, with single or double separators between them; more than shortNumber are not counted.
func (s *personal) digitsAhead(i int) int {
	n, gap := 0, 0
	for ; i < len(s.text) && gap < 3 && n <= shortNumber; i++ {
		switch c := s.text[i]; {
		case digit(c):
			n, gap = n+1, 0
		case c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' || c == ')' || capital(c):
			gap++
		default:
			return n
		}
	}
	return n
}

// goesOn reports whether more digits follow those that end at byte i, behind a separator, or a letter.
func (s *personal) goesOn(i int) bool {
	c := s.at(i)
	if capital(c) {
		return true
	}
	if !betweenDigits[c] {
		return false
	}
	next := s.at(i + 1)
	return digit(next) || (c == ' ' || c == ')') && (next == '(' || next == '-' || next == ' ') && digit(s.at(i+2)) || c == ' ' && next == '('
}

// before is the byte before i; a blank at the start of the text.
func (s *personal) before(i int) byte {
	if i == 0 {
		return ' '
	}
	return s.text[i-1]
}

// at is the byte at i; a blank beyond the text.
func (s *personal) at(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return ' '
}

// wordEnd is the end of the letters and digits from i on.
func (s *personal) wordEnd(i int) int {
	for i < len(s.text) && wordByte(s.text[i]) {
		i++
	}
	return i
}

func (s *personal) digitsEnd(i int) int {
	for i < len(s.text) && digit(s.text[i]) {
		i++
	}
	return i
}

// ends reports whether a number may end at i: no letter and no digit follows, nor a hyphen or dot with a digit.
func (s *personal) ends(i int) bool {
	c := s.at(i)
	return !wordByte(c) && (c != '-' && c != '.' || !digit(s.at(i+1)))
}

// label is the word before i, across quotation marks, colons and blanks: the key, for a value in JSON.
func (s *personal) label(i int) string {
	const reach = 8
	end := i
	for end > max(0, i-reach) && strings.IndexByte(` "'=:([\`, s.text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > max(0, end-32) && (wordByte(s.text[start-1]) || s.text[start-1] == '-') {
		start--
	}
	return s.text[start:end]
}

// identifier reports whether the number at i is named as one that identifies no person's account: order_id, messageId, ts.
func (s *personal) identifier(i int) bool {
	low := lowerASCII(s.label(i))
	if strings.HasSuffix(low, "id") {
		return true
	}
	switch low {
	case "ids", "ts", "timestamp", "time", "seed", "hash", "tracking", "isbn", "ean", "upc", "gtin", "imei", "sku", "nonce", "cursor":
		return true
	}
	return false
}

func digit(c byte) bool    { return c-'0' <= 9 }
func capital(c byte) bool  { return c-'A' < 26 }
func wordByte(c byte) bool { return digit(c) || letter(c) || c == '_' }

func lowerASCII(text string) string {
	low := []byte(text)
	for i, c := range low {
		if capital(c) {
			low[i] = c | 0x20
		}
	}
	return string(low)
}
