package rawjson

// SetText is the patch that puts a text where a value stands.
func SetText(at Value, text string) Patch {
	return Patch{Start: at.Start, End: at.End, With: Quote(text)}
}

// Set is the patch that puts a JSON value where another stands.
func Set(at Value, value string) Patch {
	return Patch{Start: at.Start, End: at.End, With: []byte(value)}
}

// AppendElem is the patch that adds an element to the end of an array.
func AppendElem(array Value, elem []byte) Patch {
	at := array.Start + 1
	if n := len(array.Elems); n > 0 {
		at, elem = array.Elems[n-1].End, append([]byte{','}, elem...)
	}
	return Patch{Start: at, End: at, With: elem}
}

// PrependMember is the patch that adds a member to the front of an object.
func PrependMember(object Value, name string, value []byte) Patch {
	member := append(append(Quote(name), ':'), value...)
	if len(object.Members) > 0 {
		member = append(member, ',')
	}
	return Patch{Start: object.Start + 1, End: object.Start + 1, With: member}
}
