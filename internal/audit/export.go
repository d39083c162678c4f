package audit

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

const (
	maxLine  = 64 << 20 // bytes of one exported line: far above any record, below what would exhaust memory
	maxDepth = 64       // of one exported line; records nest about eight deep
)

// WriteExport writes a chain as JSON lines: one for each entry, and the head as the last.
//
//	{"seq":1,"prev":"<hex>","hash":"<hex>","leaf":"<hex>","record":{…}}
//	{"head":{"seq":1,"hash":"<hex>","count":1}}
//
// The record member holds the record's own bytes, which are those that the hashes are computed over. The head is not
// signed: see [VerifyExport].
func WriteExport(w io.Writer, entries iter.Seq2[Entry, error], head Head) error {
	out := bufio.NewWriter(w)
	for e, err := range entries {
		if err != nil {
			return err
		}
		// A record that was edited into something that is no line of JSON would break the lines around it.
		if _, err := rawjson.Parse(e.Record, maxDepth-1); err != nil || bytes.ContainsAny(e.Record, "\r\n") {
			return &Broken{Seq: e.Seq, Reason: "the record is not one line of JSON"}
		}
		out.Write(e.Line())
	}
	fmt.Fprintf(out, `{"head":{"seq":%d,"hash":"%x","count":%d}}`+"\n", head.Seq, head.Hash, head.Count)
	return out.Flush()
}

// Line is the entry as one line of an export.
func (e Entry) Line() []byte {
	return fmt.Appendf(nil, `{"seq":%d,"prev":"%x","hash":"%x","leaf":"%x","record":%s}`+"\n", e.Seq, e.Prev, e.Hash, e.Leaf, e.Record)
}

// ReadExport reads what [WriteExport] wrote. The head is known once the entries have been read to their end: ok is false
// when the export has none. A line that cannot be read is a [*Broken] that bears the number the record should have.
func ReadExport(r io.Reader) (entries iter.Seq2[Entry, error], head func() (h Head, ok bool)) {
	var last Head
	ended := false
	entries = func(yield func(Entry, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		seq := int64(1)
		for ; lines.Scan(); seq++ {
			e, h, err := readLine(bytes.Clone(lines.Bytes()))
			switch {
			case err != nil:
				yield(Entry{}, &Broken{Seq: seq, Reason: "the line cannot be read: " + err.Error()})
				return
			case ended:
				yield(Entry{}, &Broken{Seq: seq, Reason: "the line stands behind the head"})
				return
			case h != nil:
				last, ended, seq = *h, true, seq-1
			default:
				if seq = e.Seq; !yield(e, nil) {
					return
				}
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(Entry{}, &Broken{Seq: seq, Reason: "the line is too long to be a record"})
		} else if err != nil {
			yield(Entry{}, fmt.Errorf("read export: %w", err))
		}
	}
	return entries, func() (Head, bool) { return last, ended }
}

// VerifyExport verifies an export against itself, as [Verify] does, and asks for the head line.
//
// The head line is not signed. An export whose tail was cut and whose head line was then rewritten passes: only
// a signed head, or one kept elsewhere, shows that. An export that lost its head line with its tail is refused, and what it
// lost cannot be said.
func VerifyExport(r io.Reader) (Report, error) {
	entries, head := ReadExport(r)
	var c check
	for e, err := range entries {
		if err == nil {
			err = c.next(e)
		}
		if err != nil {
			return c.report(), err
		}
	}
	h, ok := head()
	if !ok {
		return c.report(), &Broken{Seq: c.head.Seq + 1, Reason: "the export has no head line: whether records were cut from its end cannot be seen"}
	}
	return c.report(), c.end(h)
}

// readLine reads one line: an entry, or the head.
func readLine(line []byte) (Entry, *Head, error) {
	v, err := rawjson.Parse(line, maxDepth)
	if err != nil {
		return Entry{}, nil, err
	}
	if h := v.Get("head"); h.Exists() {
		head, err := readHead(line, h)
		return Entry{}, &head, err
	}
	record := v.Get("record")
	if record.Kind != rawjson.Object {
		return Entry{}, nil, errors.New("there is no record in it")
	}
	e := Entry{Record: record.Raw(line)}
	m := members{doc: line, of: v}
	m.integer("seq", &e.Seq)
	m.hash("prev", &e.Prev)
	m.hash("hash", &e.Hash)
	m.hash("leaf", &e.Leaf)
	return e, nil, m.err
}

func readHead(line []byte, v rawjson.Value) (h Head, err error) {
	m := members{doc: line, of: v}
	m.integer("seq", &h.Seq)
	m.integer("count", &h.Count)
	m.hash("hash", &h.Hash)
	return h, m.err
}

// members reads members of an object and remembers the first that cannot be read.
type members struct {
	doc []byte
	of  rawjson.Value
	err error
}

func (m *members) integer(name string, to *int64) {
	n, ok := m.of.Get(name).Int(m.doc)
	if !ok && m.err == nil {
		m.err = fmt.Errorf("%s is not a number", name)
	}
	*to = n
}

func (m *members) hash(name string, to *[32]byte) {
	raw, err := hex.DecodeString(m.of.Get(name).Text(m.doc))
	if (err != nil || len(raw) != len(to)) && m.err == nil {
		m.err = fmt.Errorf("%s is not a hash", name)
	}
	copy(to[:], raw)
}
