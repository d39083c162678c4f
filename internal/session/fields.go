package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// fields is a keyed hash (HMAC-SHA-256, where nothing else is said) of texts that cannot run into each other.
type fields struct {
	hash.Hash
	buf []byte // what is written next: a hash takes no strings
	out Digest // where the hash writes its sum
}

// fieldsBuffer is how much is written at once, in bytes.
const fieldsBuffer = 2 << 10

// slack is what is written to the buffer without a look whether there is room: a length, a letter, or eight bytes at once.
const slack = 8

func (r *Resolver) fields() *fields {
	return &fields{Hash: hmac.New(sha256.New, r.Key)}
}

// room makes the buffer, which what is only cloned does not need.
func (w *fields) room() {
	if w.buf == nil {
		w.buf = make([]byte, 0, fieldsBuffer+2*slack)
	}
}

// keyed is the hash of some fields.
func (r *Resolver) keyed(list ...string) Digest {
	w := r.fields()
	for _, field := range list {
		w.field(field)
	}
	return w.sum()
}

// field writes a text that the next one cannot run into.
func (w *fields) field(text string) {
	w.room()
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(text))) //nolint:gosec // bodies are smaller
	for len(text) > 0 {
		if len(w.buf) >= fieldsBuffer {
			w.flush()
		}
		n := min(len(text), fieldsBuffer-len(w.buf))
		w.buf = append(w.buf, text[:n]...)
		text = text[n:]
	}
}

// dense writes a text without its white space, which the next one runs into.
func (w *fields) dense(text string) {
	w.room()
	for i := 0; i < len(text); {
		if len(w.buf) >= fieldsBuffer {
			w.flush()
		}
		piece := text[i:min(len(text), i+fieldsBuffer-len(w.buf))]
		n := w.ascii(piece)
		if i += n; n == len(piece) {
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			w.buf = utf8.AppendRune(w.buf, r)
		}
		i += size
	}
}

// ascii buffers a text up to its first byte that is not ASCII, and returns where that is. There has to be room for all of it.
// It takes eight bytes at a time, which is most of a word and the blank behind it.
func (w *fields) ascii(text string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	at, i := len(w.buf), 0
	buf := w.buf[:at+len(text)+slack]
	for ; i+8 <= len(text); i++ {
		b := text[i : i+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		binary.LittleEndian.PutUint64(buf[at:], word) // what is not to stay is written over
		// The lowest high bit is that of the first byte that is a blank, a control character or not ASCII.
		n := bits.TrailingZeros64(((word-ones*(' '+1))&^word|word)&highs) / 8
		if at, i = at+n, i+n; n == 8 {
			i--
			continue
		}
		if text[i] >= utf8.RuneSelf {
			w.buf = buf[:at]
			return i
		}
		buf[at] = text[i]
		at += int(inked[text[i]])
	}
	for ; i < len(text) && text[i] < utf8.RuneSelf; i++ {
		buf[at] = text[i]
		at += int(inked[text[i]])
	}
	w.buf = buf[:at]
	return i
}

// inked is 1 for the ASCII characters that are not white space.
var inked = func() (ink [utf8.RuneSelf]byte) {
	for c := range ink {
		if c != ' ' && (c < '\t' || c > '\r') {
			ink[c] = 1
		}
	}
	return ink
}()

// flush leaves alone what has nothing to write: it may be cloned by several at once.
func (w *fields) flush() {
	if len(w.buf) > 0 {
		w.Write(w.buf) //nolint:errcheck // a hash does not fail
		w.buf = w.buf[:0]
	}
}

// sum is the hash of what has been written. More may follow.
func (w *fields) sum() Digest {
	w.flush()
	w.Sum(w.out[:0])
	return w.out
}

// clone goes on from what has been written up to now.
func (w *fields) clone() *fields {
	w.flush()
	c, ok := w.Hash.(hash.Cloner)
	if !ok {
		panic("a hash of the standard library that cannot be cloned")
	}
	h, err := c.Clone()
	if err != nil {
		panic(err) // as above
	}
	return &fields{Hash: h}
}
