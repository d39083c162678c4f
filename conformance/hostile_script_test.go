package conformance_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// script is what one side sends, byte by byte, as a case writes it down: lines of a head, an empty line, and a body whose line
// breaks do not count. Words after a $ stand for something; README.md lists them.
type script struct {
	t     *testing.T
	words map[string]func(arg string) string
}

// render is the script as bytes, with marks where somebody does something else than send.
func (s script) render(text string) []byte {
	head, body, whole := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n")
	if first, rest, ok := strings.Cut(text, "\n"); ok && first == "" { // no head at all
		head, body = "", rest
	}
	content := s.expand(strings.ReplaceAll(body, "\n", ""))
	length := len(content)
	for _, mark := range marks {
		length -= len(mark) * strings.Count(content, mark)
	}
	s.words["LENGTH"] = func(string) string { return "Content-Length: " + strconv.Itoa(length) }
	var out strings.Builder
	for line := range strings.Lines(head) {
		line = s.expand(strings.TrimSuffix(line, "\n"))
		if joined, ok := strings.CutSuffix(line, `\`); ok {
			out.WriteString(joined)
		} else {
			out.WriteString(line + "\r\n")
		}
	}
	if whole {
		out.WriteString("\r\n" + content)
	}
	return []byte(out.String())
}

// expand puts what they stand for in place of the words of a text.
func (s script) expand(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r < 'A' || r > 'Z' })
		if end < 0 {
			end = len(rest)
		}
		for end > 1 && !s.knows(rest[:end]) { // letters may follow a word
			end--
		}
		name, arg := rest[:end], ""
		text = rest[end:]
		if strings.HasPrefix(text, "{") {
			n := argument(text)
			arg, text = s.expand(text[1:n]), text[n+1:]
		}
		if do := s.words[name]; do != nil {
			out.WriteString(do(arg))
		} else {
			out.WriteString(s.common(name, arg))
		}
	}
}

func (s script) knows(name string) bool {
	return s.words[name] != nil || slices.Contains(commonWords[:], name)
}

// argument is where the brace ends that a text begins with.
func argument(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

var commonWords = [...]string{"REPEAT", "HEX", "CHUNKED", "HALF", "CRLF", "LF", "GZIP", "DEFLATE", "BR", "ZSTD",
	"PAUSE", "HANG", "RESET", "SHUT", "LEAVE", "STALL", "FLOOD"}

// common are the words that mean the same to both sides.
func (s script) common(name, arg string) string {
	switch name {
	case "REPEAT": // {number|text}
		n, text, _ := strings.Cut(arg, "|")
		times, err := strconv.Atoi(n)
		if err != nil {
			s.t.Fatalf("$REPEAT{%s: %v", n, err)
		}
		return strings.Repeat(text, times)
	case "HEX":
		raw, err := hex.DecodeString(arg)
		if err != nil {
			s.t.Fatalf("$HEX: %v", err)
		}
		return string(raw)
	case "CHUNKED":
		return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(arg), arg)
	case "HALF":
		return arg[:len(arg)/2]
	case "CRLF":
		return "\r\n"
	case "LF":
		return "\n"
	case "GZIP", "DEFLATE", "BR", "ZSTD":
		return compress(s.t, name, arg)
	case "PAUSE", "HANG", "RESET", "SHUT", "LEAVE", "STALL", "FLOOD":
		return "\x00" + name + "\x00"
	}
	s.t.Fatalf("a script has no word $%s", name)
	return ""
}

func compress(t *testing.T, coding, text string) string {
	var out bytes.Buffer
	w := map[string]func() io.WriteCloser{
		"GZIP":    func() io.WriteCloser { return gzip.NewWriter(&out) },
		"DEFLATE": func() io.WriteCloser { return zlib.NewWriter(&out) },
		"BR":      func() io.WriteCloser { return brotli.NewWriter(&out) },
		"ZSTD": func() io.WriteCloser {
			z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	}[coding]()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// marks are what stands in rendered scripts where a side does something else than send.
var marks = [...]string{markPause, markHang, markReset, markShut, markLeave, markStall, markFlood}

const (
	markPause = "\x00PAUSE\x00" // lets a moment go by
	markHang  = "\x00HANG\x00"  // waits until the other side has closed
	markReset = "\x00RESET\x00" // resets the connection
	markShut  = "\x00SHUT\x00"  // sends no more, and reads on
	markLeave = "\x00LEAVE\x00" // closes the connection
	markStall = "\x00STALL\x00" // of a client: never reads
	markFlood = "\x00FLOOD\x00" // sends what stands behind it until nobody takes it
)

// patience is how long a side waits for what must come: far longer than it takes, also on a machine that is busy.
const patience = 20 * time.Second

// send plays a rendered script on a connection, up to its end or to a mark that ends it, which is returned. An error is a promise
// that the other side has not kept.
func send(conn *net.TCPConn, raw []byte) (end string, err error) {
	for len(raw) > 0 {
		at, mark := nextMark(raw)
		if at > 0 {
			if _, err := conn.Write(raw[:at]); err != nil {
				return markLeave, nil //nolint:nilerr // whoever is sent too much may close
			}
		}
		raw = raw[at+len(mark):]
		switch mark {
		case markPause:
			time.Sleep(20 * time.Millisecond)
		case markShut:
			return mark, conn.CloseWrite()
		case markReset:
			return mark, conn.SetLinger(0)
		case markFlood:
			for start := time.Now(); time.Since(start) < patience; {
				if _, err := conn.Write(raw); err != nil {
					return mark, nil //nolint:nilerr // as above
				}
			}
			return mark, fmt.Errorf("somebody takes everything for %v", patience)
		case markHang:
			return mark, closed(conn)
		case markLeave, markStall:
			return mark, nil
		}
	}
	return "", nil
}

// closed waits until the other side has closed.
func closed(conn *net.TCPConn) error {
	conn.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // the read says it
	if _, err := conn.Read(make([]byte, 1)); isTimeout(err) {
		return fmt.Errorf("the other side holds the connection for %v", patience)
	}
	return nil
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as a connection returns it
	return ok && timeout.Timeout()
}

func nextMark(raw []byte) (at int, mark string) {
	at = len(raw)
	for _, m := range marks {
		if i := bytes.Index(raw[:at], []byte(m)); i >= 0 {
			at, mark = i, m
		}
	}
	return at, mark
}
