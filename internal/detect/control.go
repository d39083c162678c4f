package detect

const (
	escapeByte = 0x1B
	del        = 0x7F
)

// control reads a control character that takes size bytes of the original. Those that part fields are a blank; the others, and the
// sequences by which terminals are told of colours (ECMA-48, 5.4), are nothing: a model reads the letters around them as one word.
func (w *writer) control(r rune, size int) {
	switch {
	case r == 0 || r >= 0x1C && r < ' ':
		w.space(false, size)
	case r == escapeByte:
		w.skip(size + sequence(w.n.Original[w.at+size:w.end]))
	default:
		w.skip(size)
	}
}

// sequenceMax bounds a sequence, in bytes.
const sequenceMax = 32

// sequence is the size of the control sequence that follows an escape character; 0 when none does.
func sequence(rest string) int {
	if rest == "" || rest[0] != '[' {
		return 0
	}
	for i := 1; i < min(len(rest), sequenceMax); i++ {
		switch c := rest[i]; {
		case c >= '@' && c <= '~':
			return i + 1
		case c < ' ' || c > '?':
			return 0
		}
	}
	return 0
}

// accent reports whether a rune is a mark that sits on a letter of an alphabet, or around it (Unicode, "Combining Diacritical Marks" and
// its supplements).
func accent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36F, r >= 0x483 && r <= 0x489:
		return true
	case r >= 0x1AB0 && r <= 0x1AFF, r >= 0x1DC0 && r <= 0x1DFF, r >= 0x20D0 && r <= 0x20FF, r >= 0xFE20 && r <= 0xFE2F:
		return true
	}
	return false
}
