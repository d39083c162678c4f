// Package sse reads and writes server-sent events (WHATWG HTML, section 9.2). It promises that the raw bytes of the
// events it reads, one after the other, are the stream, byte for byte. It leaves the meaning of events to codecs.
package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// ErrTooLarge says that one event is larger than the reader allows.
var ErrTooLarge = errors.New("event too large")

// Event is one block of lines and the blank line behind it. A block of comments, or a lone blank line, is an event with
// empty Data.
type Event struct {
	Raw  []byte // all bytes of the lines and of the blank line; never written to again
	Name string // the event field
	Data string // the data fields, joined by line feeds
}

// Reader reads events from a stream.
type Reader struct {
	src     io.Reader
	max     int
	buf     []byte // read and not yet returned
	begun   bool   // the first line, which may carry a byte order mark, is behind us
	err     error  // why there is nothing more to read
	scanned int    // no line ends in buf before this offset that has not been seen
}

// readSize is how much is asked of the source at once, in bytes.
const readSize = 16 << 10

// maxEmptyReads is how often in a row a source may return nothing and no error.
const maxEmptyReads = 100

// NewReader reads from r and refuses events of more than maxEvent bytes. Zero means no limit.
func NewReader(r io.Reader, maxEvent int) *Reader {
	return &Reader{src: r, max: maxEvent}
}

// Next reads one event. At the end of the stream it returns io.EOF, or, when the stream ends in the middle of an event,
// what there is of it together with io.ErrUnexpectedEOF. An error of the source comes with what there is of an event,
// too. [ErrTooLarge] ends the reading.
func (r *Reader) Next() (Event, error) {
	line := 0 // where the current line begins
	r.scanned = 0
	for {
		end, next, ok := r.lineEnd(line)
		switch {
		case r.max > 0 && (ok && next > r.max || !ok && len(r.buf) > r.max):
			r.buf, r.err = nil, ErrTooLarge
			return Event{}, r.err
		case !ok && r.err != nil:
			return r.rest()
		case !ok:
			r.fill()
		case r.blank(line, end):
			return r.take(next), nil
		default:
			line = next
		}
	}
}

// lineEnd finds the end of the line that begins at an offset, and where the next one begins. A carriage return at the
// end of what has been read waits for the byte behind it: it may be one line end together with a line feed.
func (r *Reader) lineEnd(line int) (end, next int, ok bool) {
	from := max(line, r.scanned)
	i := bytes.IndexAny(r.buf[from:], "\r\n")
	if i < 0 {
		r.scanned = len(r.buf)
		return 0, 0, false
	}
	end = from + i
	switch {
	case r.buf[end] == '\n':
		return end, end + 1, true
	case end+1 < len(r.buf) && r.buf[end+1] == '\n':
		return end, end + 2, true
	case end+1 < len(r.buf) || r.err != nil:
		return end, end + 1, true
	}
	r.scanned = end
	return 0, 0, false
}

func (r *Reader) blank(line, end int) bool {
	return end == line || line == 0 && !r.begun && string(r.buf[:end]) == byteOrderMark
}

const byteOrderMark = "\uFEFF"

// fill reads once. It never moves bytes that a returned event holds: it appends behind them or to a new buffer.
func (r *Reader) fill() {
	if cap(r.buf)-len(r.buf) < readSize/4 {
		grown := make([]byte, len(r.buf), 2*len(r.buf)+readSize)
		copy(grown, r.buf)
		r.buf = grown
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

func (r *Reader) rest() (Event, error) {
	if len(r.buf) == 0 {
		return Event{}, r.err
	}
	event, err := r.take(len(r.buf)), r.err
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return event, err
}

func (r *Reader) take(n int) Event {
	event := Event{Raw: r.buf[:n:n]}
	r.buf = r.buf[n:]
	lines := event.Raw
	if !r.begun {
		lines = bytes.TrimPrefix(lines, []byte(byteOrderMark))
		r.begun = true
	}
	event.Name, event.Data = fields(string(lines))
	return event
}

// fields reads the lines of one event.
func fields(lines string) (name, data string) {
	var texts []string
	for len(lines) > 0 {
		line, rest := cutLine(lines)
		lines = rest
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			texts = append(texts, value)
		}
	}
	return name, strings.Join(texts, "\n")
}

func cutLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return text, ""
	case strings.HasPrefix(text[i:], "\r\n"):
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

// Append writes an event behind dst; without a name there is no event field. A line end in the data begins another data
// field. The name must not hold one.
func Append(dst []byte, name, data string) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for {
		line, rest := cutLine(data)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
		if len(line) == len(data) {
			return append(dst, '\n')
		}
		data = rest
	}
}
