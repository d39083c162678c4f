package rawjson

import (
	"encoding/binary"
	"math/bits"
)

type parser struct {
	doc     []byte
	at      int
	depth   int
	members shelf[Member]
	elems   shelf[Value]
	names   [32]string // names of members without an escape that were read before; see name
}

func (p *parser) fail(err error) error { return &Error{err, p.at} }

func (p *parser) space() {
	for p.at < len(p.doc) {
		switch p.doc[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value() (Value, error) {
	p.space()
	if p.at >= len(p.doc) {
		return Value{}, p.fail(ErrSyntax)
	}
	switch c := p.doc[p.at]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		return p.str()
	case c == 't':
		return p.literal("true", Bool)
	case c == 'f':
		return p.literal("false", Bool)
	case c == 'n':
		return p.literal("null", Null)
	case c == '-' || digit(c):
		return p.number()
	}
	return Value{}, p.fail(ErrSyntax)
}

func (p *parser) literal(word string, k Kind) (Value, error) {
	if len(p.doc)-p.at < len(word) || string(p.doc[p.at:p.at+len(word)]) != word {
		return Value{}, p.fail(ErrSyntax)
	}
	p.at += len(word)
	return Value{Kind: k, Start: p.at - len(word), End: p.at}, nil
}

func (p *parser) object() (Value, error) {
	v := Value{Kind: Object, Start: p.at}
	if p.depth--; p.depth < 0 {
		return Value{}, p.fail(ErrDepth)
	}
	p.at++
	from := p.members.begin()
	var seen map[string]struct{} // only for large objects: a scan is cheaper for small ones
	for p.space(); !p.take('}'); p.space() {
		before := p.members.since(from)
		if len(before) > 0 {
			if !p.take(',') {
				return Value{}, p.fail(ErrSyntax)
			}
			p.space()
		}
		keyAt := p.at
		key, err := p.str()
		if err != nil {
			return Value{}, err
		}
		name := p.name(key)
		if duplicate(before, &seen, name) {
			return Value{}, &Error{ErrDuplicate, keyAt}
		}
		if p.space(); !p.take(':') {
			return Value{}, p.fail(ErrSyntax)
		}
		member, err := p.value()
		if err != nil {
			return Value{}, err
		}
		p.members.add(Member{Key: name, KeyStart: keyAt, Value: member})
	}
	p.depth++
	v.End, v.Members = p.at, p.members.end(from, len(p.doc))
	return v, nil
}

// name is the decoded name of a member. Objects in a list have the same few names, and most are those that were read before.
func (p *parser) name(key Value) string {
	raw := p.doc[key.Start+1 : key.End-1]
	if len(raw) == 0 {
		return ""
	}
	known := &p.names[(len(raw)*7+int(raw[len(raw)-1]))%len(p.names)]
	if string(raw) == *known {
		return *known
	}
	name := key.Text(p.doc)
	if len(name) == len(raw) { // nothing was escaped, so that only the same bytes have the same name
		*known = name
	}
	return name
}

func duplicate(members []Member, seen *map[string]struct{}, name string) bool {
	if len(members) < 16 {
		for i := range members {
			if members[i].Key == name {
				return true
			}
		}
		return false
	}
	if *seen == nil {
		*seen = make(map[string]struct{}, 64)
		for _, m := range members {
			(*seen)[m.Key] = struct{}{}
		}
	}
	_, found := (*seen)[name]
	(*seen)[name] = struct{}{}
	return found
}

func (p *parser) array() (Value, error) {
	v := Value{Kind: Array, Start: p.at}
	if p.depth--; p.depth < 0 {
		return Value{}, p.fail(ErrDepth)
	}
	p.at++
	from := p.elems.begin()
	for p.space(); !p.take(']'); p.space() {
		if len(p.elems.since(from)) > 0 && !p.take(',') {
			return Value{}, p.fail(ErrSyntax)
		}
		elem, err := p.value()
		if err != nil {
			return Value{}, err
		}
		p.elems.add(elem)
	}
	p.depth++
	v.End, v.Elems = p.at, p.elems.end(from, len(p.doc))
	return v, nil
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.doc) && p.doc[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) str() (Value, error) {
	v := Value{Kind: String, Start: p.at}
	if !p.take('"') {
		return Value{}, p.fail(ErrSyntax)
	}
	for p.at < len(p.doc) {
		switch c := p.doc[p.at]; {
		case c == '"':
			p.at++
			v.End = p.at
			return v, nil
		case c < 0x20:
			return Value{}, p.fail(ErrSyntax)
		case c == '\\':
			if err := p.escape(); err != nil {
				return Value{}, err
			}
		default:
			p.at += plain(p.doc[p.at:])
		}
	}
	return Value{}, p.fail(ErrSyntax)
}

// plain is how many bytes of a string, after one that is known to be, are neither its end nor an escape nor a control
// character. It looks at eight at a time: nearly all of a request is text.
func plain(doc []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 1
	for ; n+8 <= len(doc); n += 8 {
		w := binary.LittleEndian.Uint64(doc[n:])
		// A byte of (v-ones)&^v has its high bit set where v is zero, and where it borrows from such a one: the first is right.
		quote, escape := w^ones*'"', w^ones*'\\'
		if found := ((quote-ones)&^quote | (escape-ones)&^escape | (w-ones*0x20)&^w) & highs; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	return n
}

// escape reads one escape, both halves of a surrogate pair at once. A lone surrogate has no UTF-8 and readers differ on
// it, so it is refused.
func (p *parser) escape() error {
	if p.at+1 >= len(p.doc) {
		return p.fail(ErrSyntax)
	}
	switch p.doc[p.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.at += 2
		return nil
	case 'u':
	default:
		return p.fail(ErrSyntax)
	}
	r, ok := hex4(p.doc, p.at+2)
	if !ok {
		return p.fail(ErrSyntax)
	}
	switch {
	case r >= 0xDC00 && r < 0xE000:
		return p.fail(ErrUTF8)
	case r >= 0xD800 && r < 0xDC00:
		low, ok := rune(0), false
		if p.at+7 < len(p.doc) && p.doc[p.at+6] == '\\' && p.doc[p.at+7] == 'u' {
			low, ok = hex4(p.doc, p.at+8)
		}
		if !ok || low < 0xDC00 || low >= 0xE000 {
			return p.fail(ErrUTF8)
		}
		p.at += 6
	}
	p.at += 6
	return nil
}

func hex4(doc []byte, at int) (rune, bool) {
	if at+4 > len(doc) {
		return 0, false
	}
	var r rune
	for _, c := range doc[at : at+4] {
		switch {
		case digit(c):
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (p *parser) number() (Value, error) {
	v := Value{Kind: Number, Start: p.at}
	p.take('-')
	if !p.take('0') && !p.digits() {
		return Value{}, p.fail(ErrSyntax)
	}
	if p.take('.') && !p.digits() {
		return Value{}, p.fail(ErrSyntax)
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return Value{}, p.fail(ErrSyntax)
		}
	}
	v.End = p.at
	return v, nil
}

func (p *parser) digits() bool {
	from := p.at
	for p.at < len(p.doc) && digit(p.doc[p.at]) {
		p.at++
	}
	return p.at > from
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
