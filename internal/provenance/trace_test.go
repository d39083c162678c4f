package provenance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
)

var traceKey = provenance.Key{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// kept is a conversation of which only the traces are left.
func kept(list []provenance.Said, lost provenance.Lost) *provenance.Conversation {
	out := slices.Clone(list)
	for i := range out {
		out[i].Trace, out[i].Text = provenance.Trace(traceKey, out[i].Text), ""
	}
	return provenance.NewTraced(traceKey, out, lost)
}

func TestATraceHoldsNoText(t *testing.T) {
	const text = "Mail bob@example.org about 12,000.00 EUR to DE89 3704 0044 0532 0130 00"
	trace := provenance.Trace(traceKey, text)
	for _, word := range []string{"bob", "example", "mail", "12000", "0532"} {
		if bytes.Contains(bytes.ToLower(trace), []byte(word)) {
			t.Errorf("the trace holds %q", word)
		}
	}
	other := traceKey
	other[15]++
	if bytes.Equal(trace, provenance.Trace(other, text)) {
		t.Error("the trace does not depend on the key")
	}
	c := provenance.NewTraced(other, []provenance.Said{{Source: provenance.User, Trace: trace}}, provenance.Lost{})
	if got := c.Origin("bob@example.org"); got.Source != provenance.Model {
		t.Errorf("under another key: %+v", got)
	}
}

func TestTracesBesideTexts(t *testing.T) {
	page := provenance.Said{Source: provenance.ToolResult, Tool: "read_page", Tainted: true, At: 7, Trace: provenance.Trace(traceKey, "drop@evil.test")}
	c := provenance.NewTraced(traceKey, []provenance.Said{page, {Source: provenance.User, At: -3, Text: "boss@example.com"}}, provenance.Lost{})
	for value, want := range map[string]provenance.Origin{
		"drop@evil.test":   {Source: provenance.ToolResult, Tool: "read_page", Tainted: true, At: 7},
		"x@evil.test":      {Source: provenance.ToolResult, Tool: "read_page", Tainted: true, At: 7, Partly: true},
		"boss@example.com": {Source: provenance.User, At: -3},
		"else@example.net": {Source: provenance.Model},
	} {
		if got := c.Origin(value); got != want {
			t.Errorf("%s: got %+v, want %+v", value, got, want)
		}
	}
}

func TestWhatIsLostCountsAsATools(t *testing.T) {
	list := []provenance.Said{said(provenance.User, "bob@example.org")}
	for _, lost := range []provenance.Lost{{Some: true}, {Some: true, Tainted: true}} {
		c := kept(list, lost)
		if got := c.Origin("bob@example.org"); got.Source != provenance.User {
			t.Errorf("%+v: the user's: %+v", lost, got)
		}
		if got, want := c.Origin("new@example.net"), (provenance.Origin{Source: provenance.ToolResult, Tainted: lost.Tainted}); got != want {
			t.Errorf("%+v: got %+v, want %+v", lost, got, want)
		}
	}
	for _, broken := range [][]byte{{}, {1}, {2, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 0, 0, 0, 0, 9}, {1, 255, 255, 255, 255}, {1, 0, 0, 0, 0, 255, 255, 255, 255},
		{1, 0, 0, 0, 0, 0, 0, 0, 0, 9}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 1, 0}} {
		c := provenance.NewTraced(traceKey, []provenance.Said{{Source: provenance.ToolResult, Trace: broken}}, provenance.Lost{})
		if got := c.Origin("new@example.net"); !got.Tainted {
			t.Errorf("a trace that cannot be read, %v: %+v", broken, got)
		}
	}
	if provenance.Trace(traceKey, strings.Repeat("a ", provenance.MaxTrace)) != nil || provenance.Trace(traceKey, strings.Repeat("1 ", provenance.MaxTrace/20)) != nil {
		t.Error("a text beyond the bound has a trace")
	}
	if provenance.Trace(traceKey, "") == nil {
		t.Error("an empty text has none")
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct{ text, value, want string }{
		{"Mail Bob@Example.org now", "bob@example.org", "Bob@Example.org"},
		{"Mail bob@example.org now", "Bob <bob@example.org>", "bob@example.org"},
		{"See https://Evil.test/x", "https://evil.test/x?q=1", "Evil.test/x"},
		{"Ünïcode before evil.test", "http://a.evil.test/", "evil.test"},
		{"nothing", "bob@example.org", ""},
		{"nothing", "", ""},
	} {
		start, end, ok := provenance.Place(c.text, c.value)
		if got := c.text[start:end]; got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, want %q", c.value, c.text, got, c.want)
		}
	}
}

// FuzzTrace: what is kept of texts says the same of every value as the texts.
func FuzzTrace(f *testing.F) {
	for _, seed := range []string{"bob@example.org", "1,000.00 or 12 000", "DE89 3704 0044 0532 0130 00", `{"a":"\u0040\n","n":12345}`, "%41&amp;", "https://a.b/c?d#e", "ａ．ｂ", "-1e-5", "\xff\\u12", "请发送到bob@example.org谢谢"} {
		f.Add(seed, "see "+seed+" there", seed)
		f.Add("", seed, "x"+seed)
	}
	f.Fuzz(func(t *testing.T, first, second, value string) {
		bad := result("read_page", second)
		bad.Tainted, bad.At = true, 2
		list := []provenance.Said{said(provenance.User, first), bad}
		texts, traces := provenance.New(list), kept(list, provenance.Lost{})
		for _, v := range []any{value, json.Number(value), first, second} {
			if a, b := texts.Origin(v), traces.Origin(v); a != b {
				t.Errorf("%q: of texts %+v, of traces %+v", v, a, b)
			}
			if a, b := texts.Urges(v), traces.Urges(v); !slices.Equal(a, b) {
				t.Errorf("%q: asked around it, of texts %+v, of traces %+v", v, a, b)
			}
		}
		provenance.Place(second, value)
	})
}

func BenchmarkTraces(b *testing.B) {
	var list []provenance.Said
	for i := range 50 {
		text := strings.Builder{}
		for j := 0; text.Len() < 4096; j++ {
			fmt.Fprintf(&text, "Message %d from user%d@example.org: the figures of the quarter are at https://example.org/r/%d. Total: %d,%03d.50 EUR.\n", i, j, i*j, i, j)
		}
		list = append(list, provenance.Said{Source: provenance.ToolResult, Tool: "read_mail", Trace: provenance.Trace(traceKey, text.String())})
	}
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		c := provenance.NewTraced(traceKey, list, provenance.Lost{})
		c.Origin("user17@example.org")
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}
