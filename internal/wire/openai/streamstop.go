package openai

import (
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// Stop implements [wire.Incremental]: every choice ends with the text and the finish reason content_filter.
func (s *stream) Stop(text string) []byte {
	var indices []int
	for index, c := range s.choices {
		if c.first < s.next() {
			indices = append(indices, index)
		}
	}
	slices.Sort(indices)
	var out []byte
	for _, index := range indices {
		out = s.choices[index].stop(out, s.said(index)+text)
	}
	if len(indices) == 0 {
		out = sse.Append(out, "", string(encode(completion{Object: "chat.completion.chunk",
			Choices: []answer{{Delta: &piece{Role: "assistant", Content: &text}, FinishReason: filtered()}}})))
	}
	for _, e := range s.events { // the provider has counted
		if e.counts {
			out = append(out, e.raw...)
		}
	}
	return sse.Append(out, "", "[DONE]")
}

// Comments implements [wire.Incremental].
func (*stream) Comments() bool { return true }

// said is what sets a text off from the content of a choice that has been sent.
func (s *stream) said(choice int) string {
	if s.live == nil {
		return ""
	}
	for _, g := range s.choices[choice].parts {
		if g.part.Kind == gatehouse.Text && g.member == "content" && s.live.cutters[g] != nil {
			return separator
		}
	}
	return ""
}

func (c *streamed) stop(out []byte, text string) []byte {
	for _, e := range [...]struct{ delta, finish string }{
		{`{"content":` + string(rawjson.Quote(text)) + `}`, "null"}, {"{}", `"content_filter"`},
	} {
		more, err := c.like(out, e.delta, e.finish)
		if err != nil {
			return out // it has been read before, so this does not happen
		}
		out = more
	}
	return out
}
