package upstream_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// TestHeldEventIsNotAskedAgain: an event with very many texts is held for its last one. Events that follow do not ask about all of
// them, each time.
func TestHeldEventIsNotAskedAgain(t *testing.T) {
	const many = 500
	list := func(part, last string) string {
		return strings.Repeat(part+",", many-1) + last
	}
	for name, c := range map[string]struct{ first, idle string }{
		"openai":      {`{"choices":[{"index":0,"delta":{"content":[` + list(`{"type":"text","text":"a"}`, `{"type":"text","text":"a"}`) + `],"refusal":"r"}}]}`, `{"choices":[]}`},
		"completions": {`{"choices":[` + list(`{"index":0,"text":"a"}`, `{"index":1,"text":"r"}`) + `]}`, `{"choices":[]}`},
		"responses": {`{"type":"response.in_progress","response":{"output":[{"type":"message","role":"assistant","content":[` +
			list(`{"type":"output_text","text":"a"}`, `{"type":"refusal","refusal":"r"}`) + `]}]}}`, `{"type":"response.queued"}`},
		"anthropic": {`{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","tool_use_id":"t","content":[` +
			list(`{"title":"a"}`, `{"title":"r"}`) + `]}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"unheard_of"}}`},
		"gemini": {`{"candidates":[{"content":{"parts":[` + list(`{"text":"a"}`, `{"text":"r","thought":true}`) + `]}}]}`, `{"candidates":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var to sink
			stream, ok := formats[name].codec.Stream(&to).(wire.Incremental)
			if !ok {
				t.Fatal("the stream is not incremental")
			}
			asked, open := 0, false
			free := func(part int) int {
				if asked++; !open && to.parts[part].Text == "r" {
					return 0
				}
				return gatehouse.Everything
			}
			next := func(data string) []byte {
				t.Helper()
				if err := stream.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
					t.Fatal(err)
				}
				out, err := stream.Next(to.parts, free, false)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			for i := range many {
				data := c.idle
				if i == 0 {
					data = c.first
				}
				if out := next(data); len(out) > 0 {
					t.Fatalf("event %d lets %d bytes go: %.80s", i, len(out), out)
				}
			}
			if asked > 4*many {
				t.Errorf("%d events are held, and %d times it was asked what is free", many, asked)
			}
			if open = true; !strings.Contains(string(next(c.idle)), strconv.Quote("r")) {
				t.Error("what is free does not leave")
			}
		})
	}
}
