package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// Wrong refuses what is not as it must be. The path names the place in the body.
func Wrong(path, want string) *Malformed {
	return &Malformed{Code: "invalid_request", Reason: path + " must be " + want}
}

// Align splits the parts that a document is given into its own, n of them, and the inserted ones. Those between, which stand for what
// it has called unread, are left out. Fewer parts than were read are refused: the caller has lost some, and nothing is known of
// their edits.
func Align(parts []gatehouse.Part, n int) (own, inserted []gatehouse.Part, err error) {
	if len(parts) < n {
		return nil, nil, fmt.Errorf("%d parts for a document of %d", len(parts), n)
	}
	own, inserted = parts[:n], parts[n:]
	for len(inserted) > 0 && inserted[0].Media == gatehouse.Unread {
		inserted = inserted[1:]
	}
	for i := range inserted {
		if !inserted[i].Inserted {
			return nil, nil, errors.New("a part that is neither of the document nor inserted")
		}
	}
	return own, inserted, nil
}

// Final is the text that shall stand where the part stands.
func Final(p gatehouse.Part) string {
	if p.Removed {
		return p.Notice
	}
	return p.Text
}

// WithData are the bytes of an event with other data in it.
func WithData(raw []byte, name string, doc, edited []byte) []byte {
	if bytes.IndexByte(doc, '\n') >= 0 || bytes.Count(raw, doc) != 1 { // the data stood on several lines
		return sse.Append(nil, name, string(edited))
	}
	return bytes.Replace(raw, doc, edited, 1)
}

// Ended reports whether the bytes of a stream end with a blank line, so that another event can follow.
func Ended(stream []byte) bool {
	line := bytes.TrimSuffix(stream, []byte("\r\n"))
	if len(line) == len(stream) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(stream, []byte("\n")), []byte("\r"))
	}
	return len(line) < len(stream) && (len(line) == 0 || line[len(line)-1] == '\n' || line[len(line)-1] == '\r')
}
