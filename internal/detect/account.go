package detect

// card looks for the number of a payment card: 13 to 19 digits (ISO/IEC 7812), in one run or in the groups that are printed
// on cards, of a known issuer and with the right check digit. The first group ends at byte end.
func (s *personal) card(i, end int) int {
	const cardLeast = 12 // of Maestro, beside a word for a card
	if end == i+4 {
		for _, sizes := range [...][]int{{4, 4, 4, 4, 3}, {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}} {
			if end := s.printedCard(i, sizes); end > 0 {
				return end
			}
		}
		return 0
	}
	if end-i < cardLeast || end-i > 19 || !s.ends(end) || s.before(i) == '-' && i > 1 && wordByte(s.text[i-2]) {
		return 0
	}
	number := s.text[i:end]
	if !luhn(number) {
		return 0
	}
	known := issued(number)
	switch named := (known || number[0] >= '3' && number[0] <= '6') && s.nearCard(i); {
	case named:
		return s.add(classCard, certain, i, end)
	case !known || len(number) != 15 && len(number) != 16 || s.identifier(i):
		return 0 // one in ten numbers has the right check digit
	}
	return s.add(classCard, likely, i, end)
}

func (s *personal) printedCard(i int, sizes []int) int {
	var digits [19]byte
	number, end := s.groups(i, digits[:0], sizes)
	if end == 0 || !s.ends(end) || !issued(string(number)) || !luhn(string(number)) {
		return 0
	}
	if s.before(i) == s.text[i+4] && i > 1 && digit(s.text[i-2]) && !s.nearCard(i) {
		return 0 // a row of numbers
	}
	return s.add(classCard, certain, i, end)
}

func (s *personal) nearCard(i int) bool {
	return s.near(i, 64, &wordsCard)
}

var wordsCard = newVocabulary("card", "cards", "credit", "debit", "visa", "mastercard", "amex", "american express", "maestro", "pan", "cc",
	"cardnumber", "creditcard", "karte", "kreditkarte", "kartennummer", "carte", "tarjeta", "carta")

// groups reads groups of digits with one sort of separator, a blank or a hyphen, between them; end is 0 where they do not stand.
func (s *personal) groups(i int, out []byte, sizes []int) (number []byte, end int) {
	separator := s.at(i + sizes[0])
	if separator != ' ' && separator != '-' {
		return nil, 0
	}
	for k, size := range sizes {
		if k > 0 {
			if s.at(i) != separator {
				return nil, 0
			}
			i++
		}
		for range size {
			if !digit(s.at(i)) {
				return nil, 0
			}
			out = append(out, s.text[i])
			i++
		}
	}
	return out, i
}

// issued reports whether a network issues cards whose numbers begin so, of that length.
func issued(number string) bool {
	prefix := 0
	for i := range 4 {
		prefix = prefix*10 + int(number[i]-'0')
	}
	n, within := len(number), func(low, high int) bool { return prefix >= low && prefix <= high }
	switch {
	case within(4000, 4999):
		return n == 13 || n == 16 || n == 19 // Visa
	case within(5100, 5599), within(2221, 2720), within(2200, 2204):
		return n == 16 // Mastercard, Mir
	case within(3400, 3499), within(3700, 3799), prefix == 2131, prefix == 1800:
		return n == 15 // American Express, old JCB
	case within(3000, 3059), within(3095, 3095), within(3600, 3699), within(3800, 3999):
		return n == 14 || n == 16 // Diners Club
	case within(3528, 3589), prefix == 6011, within(6440, 6599), within(6200, 6299):
		return n >= 16 // JCB, Discover, UnionPay
	case within(5000, 5099), within(5600, 5899), within(6304, 6304), within(6390, 6390), within(6759, 6763):
		return n >= 13 // Maestro
	}
	return false
}

// luhn is the check of ISO/IEC 7812-1, annex B.
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// ssn looks for a number of the US Social Security Administration, in groups, of which the first ends at byte end; in one run only beside
// a word that says so.
func (s *personal) ssn(i, end int) int {
	if end != i+3 && end != i+9 {
		return 0
	}
	if c := s.before(i); (c == '-' || c == ' ') && i > 1 && digit(s.text[i-2]) && c == s.at(i+3) {
		return 0 // inside of a longer row
	}
	var digits [9]byte
	number := append(digits[:0], s.text[i:end]...)
	if end == i+3 {
		number, end = s.groups(i, digits[:0], []int{3, 2, 4})
	}
	if end == 0 || !s.ends(end) || !issuedSSN(string(number)) {
		return 0
	}
	switch {
	case s.near(i, 48, &wordsSSN):
		return s.add(classSSN, certain, i, end)
	case s.at(i+3) == '-':
		return s.add(classSSN, likely, i, end)
	case s.at(i+3) == ' ' && (s.at(end) != ' ' || !digit(s.at(end+1))):
		return s.add(classSSN, weak, i, end)
	}
	return 0
}

var wordsSSN = newVocabulary("ssn", "ssns", "social security", "socialsecurity")

// issuedSSN leaves out areas, groups and serial numbers that are never given.
func issuedSSN(number string) bool {
	area := number[:3]
	return area != "000" && area != "666" && area[0] != '9' && number[3:5] != "00" && number[5:] != "0000"
}

// iban looks for an account number of ISO 13616 whose check digits begin at i.
func (s *personal) iban(i int) int {
	if i < 2 || !capital(s.text[i-1]) || !capital(s.text[i-2]) || wordByte(s.before(i-2)) {
		return 0
	}
	length := ibanLength(s.text[i-2 : i])
	rest, seen, end := 0, 0, i-2 // modulo 97, the four characters in front last
	for ; seen < length; end++ {
		c := s.at(end)
		if c == ' ' && seen%4 == 0 && seen > 0 && end < len(s.text) {
			continue
		}
		if !digit(c) && !capital(c) {
			return 0
		}
		if seen++; seen > 4 {
			rest = shift(rest, c)
		}
	}
	if length == 0 || wordByte(s.at(end)) {
		return 0
	}
	for _, c := range []byte(s.text[i-2 : i]) {
		rest = shift(rest, c)
	}
	if !digit(s.at(i + 1)) {
		return 0
	}
	if shift(shift(rest, s.text[i]), s.text[i+1]) != 1 {
		return 0
	}
	return s.add(classIBAN, certain, i-2, end)
}

// shift appends one character to a number that is known modulo 97; letters count from A = 10.
func shift(rest int, c byte) int {
	if digit(c) {
		return (rest*10 + int(c-'0')) % 97
	}
	return (rest*100 + int(c-'A') + 10) % 97
}

// ibanLength is the characters that a country's account numbers have, 0 for a country without any: SWIFT's IBAN registry.
func ibanLength(country string) int {
	switch country {
	case "NO":
		return 15
	case "BE":
		return 16
	case "DK", "FI", "FK", "FO", "GL", "NL", "SD":
		return 18
	case "MK", "SI":
		return 19
	case "AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK":
		return 20
	case "CH", "HR", "LI", "LV":
		return 21
	case "BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA":
		return 22
	case "AE", "GI", "IL", "IQ", "OM", "SO", "TL":
		return 23
	case "AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG":
		return 24
	case "LY", "PT", "ST":
		return 25
	case "IS", "TR":
		return 26
	case "BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM":
		return 27
	case "AL", "AZ", "BY", "CY", "DO", "GT", "HU", "LB", "NI", "PL", "SV":
		return 28
	case "BR", "EG", "PS", "QA", "UA":
		return 29
	case "JO", "KW", "MU", "YE":
		return 30
	case "MT", "SC":
		return 31
	case "LC":
		return 32
	case "RU":
		return 33
	}
	return 0
}
