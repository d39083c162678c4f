package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
)

// conversation is a request with 200 turns in it, as agents send it.
func conversation() []byte {
	type m = map[string]any
	list := []m{{"role": "system", "content": "You are a helpful assistant."}}
	text := strings.Repeat("The quarterly report lists 42 open orders, and the finance team wants a short summary by Friday. Could you please help?", 13)
	notes := strings.Repeat("The warehouse in Rotterdam held 31 pallets at the end of the month, a little less than in spring.\n", 15)
	for i := range 100 {
		id := fmt.Sprint("call_", i)
		list = append(list, m{"role": "user", "content": text},
			m{"role": "assistant", "content": "", "tool_calls": []m{{"id": id, "type": "function", "function": m{"name": "lookup", "arguments": `{"name":"x"}`}}}},
			m{"role": "tool", "tool_call_id": id, "content": notes},
			m{"role": "assistant", "content": text[:400]})
	}
	raw, err := json.Marshal(m{"model": "m", "messages": list})
	if err != nil {
		panic(err)
	}
	return raw
}

// BenchmarkParse is the strict reader alone.
func BenchmarkParse(b *testing.B) {
	doc := conversation()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rawjson.Parse(doc, 128); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(doc))*1.024, "µs/KiB")
}

// BenchmarkRequest is what it costs to read old text, by its size.
func BenchmarkRequest(b *testing.B) {
	doc := conversation()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := openai.Codec{}.Request(doc)
		if err != nil {
			b.Fatal(err)
		}
		r.Parts()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(doc))*1.024, "µs/KiB")
}
