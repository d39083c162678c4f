package detect

import (
	"net/netip"
	"strings"
)

// ipv4 looks for an address that begins at i and is no version. What points at no other machine is left out.
func (s *personal) ipv4(i int) int {
	end, dots, most := i, 0, 0
	for octet := 0; octet < 4; octet++ {
		if octet > 0 {
			if s.at(end) != '.' {
				return 0
			}
			end++
			dots++
		}
		start := end
		end = s.digitsEnd(start)
		if end == start || end-start > 3 {
			return 0
		}
		most = max(most, end-start)
	}
	if !s.ends(end) || s.version(i) {
		return 0
	}
	addr, err := netip.ParseAddr(s.text[i:end])
	if err != nil || addr.IsLoopback() || addr.As4()[0] == 0 || addr.As4()[0] == 255 {
		return 0
	}
	if most == 1 && !s.near(i, 24, &wordsHost) {
		return s.add(classIP, weak, i, end)
	}
	return s.add(classIP, certain, i, end)
}

var wordsHost = newVocabulary("ip", "host", "address", "addr", "server")

// version reports whether the four numbers at i are said to be a version: version 1.2.3.4, Chrome/120.0.6099.1, lib==1.2.3.4.
func (s *personal) version(i int) bool {
	switch c := s.before(i); {
	case (c == '/' || c == '-') && i > 1 && wordByte(s.text[i-2]):
		return true
	case c == '=' && i > 1 && strings.IndexByte("=<>~!", s.text[i-2]) >= 0, c == '^', c == '~':
		return true
	}
	name := lowerASCII(s.label(i))
	for _, word := range [...]string{"version", "ver", "v", "release", "build", "revision", "firmware", "section", "assembly"} {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// ipv6Max is the bytes of the longest form, ::ffff: with dots included.
const ipv6Max = 45

// colon looks at a colon: the middle of an IPv6 address, or the end of a key in JSON.
func (s *personal) colon(i int) int {
	if i > 0 && s.text[i-1] == '"' {
		return s.member(i)
	}
	if next := s.at(i + 1); next != ':' && !(hexDigit(next) && i > 0 && hexDigit(s.text[i-1])) {
		return i + 1
	}
	if s.at(i+1) == ':' && s.at(i+2) == ':' {
		for i < len(s.text) && s.text[i] == ':' {
			i++
		}
		return i
	}
	start, end := max(s.groupsAround(i).start, i-ipv6Max), i
	for end < len(s.text) && end-start <= ipv6Max && (inGroups[s.text[end]] || s.text[end] == '.') {
		end++
	}
	for end > i+1 && (s.text[end-1] == '.' || s.text[end-1] == ':' && s.text[end-2] != ':') {
		end--
	}
	next := max(end, i+1)
	if wordByte(s.before(start)) || wordByte(s.at(end)) || !sixGroups(s.text[start:end]) {
		return next
	}
	addr, err := netip.ParseAddr(s.text[start:end])
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() {
		return next
	}
	return s.add(classIP, certain, start, end)
}

// groupsAround is the groups and colons around the colon at i. All colons in them share one look.
func (s *personal) groupsAround(i int) span {
	if s.colons.start <= i && i < s.colons.end {
		return s.colons
	}
	start, end := i, i
	for start > 0 && inGroups[s.text[start-1]] {
		start--
	}
	for end < len(s.text) && inGroups[s.text[end]] {
		end++
	}
	s.colons = span{start, end}
	return s.colons
}

// inGroups are the bytes of the groups of an IPv6 address, and the colons between them.
var inGroups = func() (is [256]bool) {
	for i := range is {
		is[i] = i == ':' || hexDigit(byte(i)) //nolint:gosec // an index of 256
	}
	return is
}()

// sixGroups tells an address from what else has colons: times, hardware addresses, names in C++ and Rust.
func sixGroups(text string) bool {
	groups, colons, long, digits, first := 0, 0, false, false, -1 // first is the length of the first group, when it has a digit
	for from := 0; from <= len(text); colons++ {
		end, has := from, false
		for end < len(text) && text[end] != ':' {
			has = has || digit(text[end])
			end++
		}
		if size := end - from; size > 0 {
			groups++
			long, digits = long || size > 2, digits || has
			if groups == 1 && has {
				first = size
			}
		}
		from = end + 1
	}
	return colons > 2 && digits && (groups > 2 && long || first == 4)
}

func hexDigit(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
