package openai

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// deaf is a sink that takes nothing.
type deaf struct{}

func (deaf) Open(gatehouse.Part) int { return 0 }
func (deaf) Text(int, string)        {}
func (deaf) Close(int)               {}
func (deaf) Unread(string)           {}

// BenchmarkUnread is what it costs to look for unread texts in a chunk as OpenAI sends it.
func BenchmarkUnread(b *testing.B) {
	doc := []byte(`{"id":"chatcmpl-BWmHx2qPzLnE0kWcVtY3r8sJ6uAoD","object":"chat.completion.chunk","created":1747209000,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_f5bdcc3276","choices":[{"index":0,"delta":{"content":" Hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"k3nQ"}`)
	c, err := readChunk(doc)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.unread(chunkShape, c.root, c.choices, "delta", deaf{})
		c.logprobs(&c.choices[0], deaf{})
	}
}
