package detect

import (
	"strings"
)

const (
	// beside is how far from an address its postal code may stand, in bytes.
	beside = 512
	// memberMax is the longest value that is taken for an address or a part of it.
	memberMax = 200
)

// member looks at a member of a JSON object whose colon is at i: a postal address is known by its key alone.
func (s *personal) member(i int) int {
	next := i + 1
	if !s.json {
		return next
	}
	end := i - 1
	start := end
	for start > 0 && end-start < 24 && (wordByte(s.text[start-1]) || s.text[start-1] == '-') {
		start--
	}
	if end-start < 3 || strings.IndexByte("aslhpmbfrz", s.text[start]|0x20) < 0 || strings.IndexByte("st12epz", s.text[end-1]|0x20) < 0 {
		return next // no key below begins or ends so
	}
	var folded [24]byte
	n := 0
	for _, c := range []byte(s.text[start:end]) {
		if c == '_' || c == '-' {
			continue
		}
		if capital(c) {
			c |= 0x20
		}
		folded[n] = c
		n++
	}
	key := string(folded[:n])
	switch key {
	case "address", "street", "streetaddress", "streetaddress1", "addressline1", "addressline2", "addressline", "address1", "address2", "line1",
		"homeaddress", "postaladdress", "mailingaddress", "shippingaddress", "billingaddress", "fulladdress", "streetname", "residence":
		if v := s.value(next); v.end-v.start > 4 && postal(s.text[v.start:v.end], key) {
			return s.add(classAddress, certain, v.start, v.end)
		}
	case "postalcode", "postcode", "zip", "zipcode", "plz":
		if v := s.value(next); v.end > v.start && v.end-v.start <= 12 {
			s.codes = append(s.codes, v)
			return v.end
		}
	}
	return next
}

// value is the inside of the string, or the number, that begins at i or behind white space; empty when there is neither or it is long.
func (s *personal) value(i int) span {
	for i < len(s.text) && strings.IndexByte(" \t\r\n", s.text[i]) >= 0 {
		i++
	}
	if digit(s.at(i)) {
		return span{i, s.digitsEnd(i)}
	}
	if s.at(i) != '"' {
		return span{}
	}
	quote := s.width(i) // JSON inside of a string has its quotes escaped, those inside of its strings once more
	i++
	for end := i; end < len(s.text) && end-i <= memberMax; end++ {
		if s.text[end] == '"' && s.width(end) == quote {
			return span{i, end}
		}
	}
	return span{}
}

// postal reports whether a value can be an address on an envelope: words and a number. Keys that say street need no number.
func postal(value, key string) bool {
	if strings.ContainsAny(value, "@{}<>=") || strings.Contains(value, "://") || !strings.Contains(value, " ") {
		return false
	}
	return strings.ContainsAny(value, "0123456789") || strings.HasPrefix(key, "street")
}

// postcodes reports the postal codes that stand beside an address.
func (s *personal) postcodes() {
	if len(s.codes) == 0 {
		return
	}
	var places []span
	for _, f := range s.all {
		if f.Type == classAddress {
			places = append(places, span{f.Start, f.End})
		}
	}
	k := 0
	for _, c := range s.codes {
		for k < len(places) && places[k].end+beside < c.start {
			k++
		}
		if k < len(places) && places[k].start <= c.end+beside {
			s.add(classAddress, certain, c.start, c.end)
		}
	}
}

// postalCode reports whether the digits start..end are said to be a postal code.
func (s *personal) postalCode(start, end int) bool {
	if end-start < 3 || !s.ends(end) {
		return false
	}
	before := strings.TrimRight(s.text[max(0, start-16):start], " ")
	if i := len(before) - 1; i > 2 && before[i] == ':' {
		before = before[:i]
	} else if strings.HasSuffix(before, " is") {
		before = before[:i-2]
	} else {
		return false
	}
	low := lowerASCII(before)
	for _, word := range [...]string{"zip", "zip code", "zipcode", "postal code", "postcode", "plz"} {
		if rest, ok := strings.CutSuffix(low, word); ok && (rest == "" || !letter(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}
