package upstream

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

var errNoEvent = errors.New("what came as events is none")

// eventStream reads server-sent events. Clients skip lines that they do not know, so that a page of HTML under the content type
// of a stream would be an answer without a word; here it is none.
type eventStream struct {
	*sse.Reader
	begun bool // there was an event with data
}

// Next implements events.
func (s *eventStream) Next() (sse.Event, error) {
	e, err := s.Reader.Next()
	s.begun = s.begun || e.Data != ""
	if !s.begun && !known(e.Raw) {
		return sse.Event{}, errNoEvent
	}
	return e, err
}

// known reports whether all lines are fields or comments, or begin to be: the last may be cut.
func known(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for line := range bytes.FieldsFuncSeq(raw, func(r rune) bool { return r == '\n' || r == '\r' }) {
		name, _, whole := bytes.Cut(line, []byte(":"))
		if !slices.ContainsFunc([]string{"data", "event", "id", "retry", ""}, func(field string) bool {
			return string(name) == field || !whole && len(name) < len(field) && string(name) == field[:len(name)]
		}) {
			return false
		}
	}
	return true
}
