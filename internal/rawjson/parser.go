package rawjson

type parser struct {
	doc   []byte
	at    int
	depth int
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

// usualMembers is room for the members of most objects, so that a list does not grow by one, two and four.
const usualMembers = 4

func (p *parser) object() (Value, error) {
	v := Value{Kind: Object, Start: p.at}
	if p.depth--; p.depth < 0 {
		return Value{}, p.fail(ErrDepth)
	}
	p.at++
	var seen map[string]struct{} // only for large objects: a scan is cheaper for small ones
	for p.space(); !p.take('}'); p.space() {
		if len(v.Members) > 0 {
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
		name := key.Text(p.doc)
		if duplicate(v.Members, &seen, name) {
			return Value{}, &Error{ErrDuplicate, keyAt}
		}
		if p.space(); !p.take(':') {
			return Value{}, p.fail(ErrSyntax)
		}
		member, err := p.value()
		if err != nil {
			return Value{}, err
		}
		if v.Members == nil {
			v.Members = make([]Member, 0, usualMembers)
		}
		v.Members = append(v.Members, Member{Key: name, KeyStart: keyAt, Value: member})
	}
	p.depth++
	v.End = p.at
	return v, nil
}

func duplicate(members []Member, seen *map[string]struct{}, name string) bool {
	if len(members) < 16 {
		for _, m := range members {
			if m.Key == name {
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
	for p.space(); !p.take(']'); p.space() {
		if len(v.Elems) > 0 && !p.take(',') {
			return Value{}, p.fail(ErrSyntax)
		}
		elem, err := p.value()
		if err != nil {
			return Value{}, err
		}
		v.Elems = append(v.Elems, elem)
	}
	p.depth++
	v.End = p.at
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
			p.at++
		}
	}
	return Value{}, p.fail(ErrSyntax)
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
