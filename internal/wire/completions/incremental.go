package completions

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Incremental = (*stream)(nil)

// Next implements [wire.Incremental].
func (s *stream) Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	if s.live == nil {
		s.live = &writer{stream: s}
	}
	n := len(s.chunks)
	if !last {
		if n = s.ready(free); n == 0 {
			return nil, nil
		}
	}
	out, err := s.live.write(parts, s.chunks[:n], last)
	for _, c := range s.chunks[:n] {
		s.held -= len(c.raw)
	}
	clear(s.chunks[:n])
	s.chunks, s.sent = s.chunks[n:], s.sent+n
	return out, err
}

// Held implements [wire.Incremental].
func (s *stream) Held() int { return s.held }

// ready is how many of the chunks that are held may leave. Why a choice ends is not known before all is decided.
func (s *stream) ready(free func(part int) int) int {
	for n, c := range s.chunks {
		if c.last || !s.quotes.Open(len(c.ahead), func(i int) bool { return c.ahead[i].told(free) }) {
			return n
		}
		if !s.gate.Open(len(c.refs), func(i int) bool { return c.refs[i].growing == nil || c.refs[i].to <= free(c.refs[i].place) }) {
			return n
		}
	}
	return len(s.chunks)
}

// told reports whether what quotes a text may leave: when the text is there, and nothing will touch it any more.
func (of *streamed) told(free func(part int) int) bool {
	return of.text != nil && free(of.text.place) == gatehouse.Everything
}

// Stop implements [wire.Incremental]: every choice ends with the text and the finish reason content_filter.
func (s *stream) Stop(text string) []byte {
	filtered := "content_filter"
	var out []byte
	for index := range maxChoices + 1 {
		of := s.of[index]
		if of == nil || of.first >= s.sent {
			continue
		}
		said := text
		if of.text != nil && s.live.cutters[of.text] != nil {
			said = separator + text
		}
		out = of.like(out, answer{Index: index, Text: said})
		out = of.like(out, answer{Index: index, FinishReason: &filtered})
	}
	if out == nil {
		c := completion{Object: "text_completion", Choices: []answer{{Text: text, FinishReason: &filtered}}}
		out = sse.Append(out, "", string(encode(c)))
	}
	for _, c := range s.chunks { // the provider has counted
		if c.counts {
			out = append(out, c.raw...)
		}
	}
	return sse.Append(out, "", "[DONE]")
}

// Comments implements [wire.Incremental].
func (*stream) Comments() bool { return true }
