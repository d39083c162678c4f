// Package jsonarray reads a JSON array of objects that arrives over time, element by element, as some providers stream. It
// promises that the raw bytes of the events it returns, one after the other, are the stream, byte for byte. It finds where an
// element ends and leaves it to codecs whether that is JSON, and what it means.
package jsonarray

import (
	"bufio"
	"errors"
	"io"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// The reasons why there is no next element.
var (
	ErrTooLarge = errors.New("element too large")
	ErrSyntax   = errors.New("not an array of objects")
	ErrCut      = errors.New("the array ended before its end")
)

// Reader reads elements from a stream.
type Reader struct {
	src   io.Reader
	max   int
	buf   []byte // read and not yet returned
	at    int    // how much of buf has been looked at
	err   error  // why there is nothing more to read
	state state
}

type state byte

const (
	before  state = iota // the opening bracket is yet to come
	first                // it has come, and nothing else
	between              // an element has ended
	behind               // the closing bracket has come
)

// readSize is how much is asked of the source at once, in bytes.
const readSize = 16 << 10

// maxEmptyReads is how often in a row a source may return nothing and no error.
const maxEmptyReads = 100

// NewReader reads from r and refuses elements of more than maxElement bytes. Zero means no limit.
func NewReader(r io.Reader, maxElement int) *Reader {
	return &Reader{src: r, max: maxElement}
}

// Begins reports whether what comes is an array, without taking it. A stream that begins with more white space than any
// server sends is none.
func Begins(r *bufio.Reader) bool {
	const most = 64
	for n := 1; n <= most; n++ {
		head, err := r.Peek(n)
		if err != nil {
			return false
		}
		if c := head[n-1]; !space(c) {
			return c == '['
		}
	}
	return false
}

// Next reads one element. Its Raw begins with the bracket or comma before it; the last event has no Data, only the closing
// bracket and what stands around it. Behind that comes io.EOF. A stream that ends earlier ends with [ErrCut], and an error of the
// source is returned as it is; what there was of an element by then is lost.
func (r *Reader) Next() (sse.Event, error) {
	c, err := r.token()
	switch {
	case err != nil:
		return sse.Event{}, err
	case r.state == before && c == '[':
		r.state = first
		r.at++
		if c, err = r.token(); err != nil {
			return sse.Event{}, err
		}
	case r.state == between && c == ',':
		r.at++
		if c, err = r.token(); err != nil {
			return sse.Event{}, err
		}
		if c != '{' {
			return sse.Event{}, r.fail(ErrSyntax)
		}
	case r.state == between && c == ']':
	default:
		return sse.Event{}, r.fail(ErrSyntax)
	}
	switch c {
	case ']':
		return r.end()
	case '{':
		return r.object()
	}
	return sse.Event{}, r.fail(ErrSyntax)
}

// token is the next byte that is no white space; it stands at r.at.
func (r *Reader) token() (byte, error) {
	if r.state == behind {
		return 0, r.fail(io.EOF)
	}
	for {
		for ; r.at < len(r.buf); r.at++ {
			if c := r.buf[r.at]; !space(c) {
				return c, nil
			}
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// object reads the object that begins at r.at.
func (r *Reader) object() (sse.Event, error) {
	start, depth, quoted, escaped := r.at, 0, false, false
	for {
		for ; r.at < len(r.buf); r.at++ {
			switch c := r.buf[r.at]; {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth > 0 {
					continue
				}
				if r.at++; r.max > 0 && r.at > r.max {
					return sse.Event{}, r.fail(ErrTooLarge)
				}
				r.state = between
				return r.take(start), nil
			}
		}
		if err := r.fill(); err != nil {
			return sse.Event{}, err
		}
	}
}

// end reads the closing bracket, which stands at r.at, and white space to the end of the stream.
func (r *Reader) end() (sse.Event, error) {
	r.at++
	for {
		for ; r.at < len(r.buf); r.at++ {
			if !space(r.buf[r.at]) {
				return sse.Event{}, r.fail(ErrSyntax)
			}
		}
		switch err := r.fill(); {
		case errors.Is(err, ErrCut):
			r.state = behind
			return r.take(r.at), nil
		case err != nil:
			return sse.Event{}, err
		}
	}
}

// take returns what has been looked at; data begins at an offset.
func (r *Reader) take(data int) sse.Event {
	e := sse.Event{Raw: r.buf[:r.at:r.at], Data: string(r.buf[data:r.at])}
	r.buf, r.at = r.buf[r.at:], 0
	return e
}

// fill reads once. It never moves bytes that a returned event holds: it appends behind them or to a new buffer.
func (r *Reader) fill() error {
	switch {
	case r.err != nil:
		return r.err
	case r.max > 0 && len(r.buf) > r.max:
		return r.fail(ErrTooLarge)
	}
	if cap(r.buf)-len(r.buf) < readSize/4 {
		grown := make([]byte, len(r.buf), 2*len(r.buf)+readSize)
		copy(grown, r.buf)
		r.buf = grown
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if errors.Is(err, io.EOF) {
			err = ErrCut // to the one who wanted more
		}
		if r.err = err; n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return r.fail(io.ErrNoProgress)
}

func (r *Reader) fail(err error) error {
	r.err = err
	return err
}
