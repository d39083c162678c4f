package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// talk is a conversation as a client keeps it.
type talk []gatehouse.Part

// request is an exchange that sends the conversation; what stands behind the last assistant turn is new.
func (t talk) request(agent string) *gatehouse.Exchange {
	x := &gatehouse.Exchange{Agent: agent, Known: true, AgentCredential: "c-" + agent}
	x.Ask(t...)
	for i := len(t) - 1; i >= 0 && t[i].Role != gatehouse.Assistant; i-- {
		x.Request[i].Latest = true
	}
	return x
}

// turn is what client and model say next.
func (t talk) turn(r *rand.Rand, n int) talk {
	words := func() string { return strings.Repeat(fmt.Sprintf("word %d\n", r.IntN(1000)), 1+r.IntN(60)) }
	id := fmt.Sprint("call_", n)
	switch n % 4 {
	case 3: // what is not part of a transcript
		return append(t, gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Text, Text: words()},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text, Text: words()},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Opaque, Media: "audio"},
			gatehouse.Part{Role: gatehouse.System, Kind: gatehouse.Text, Text: words()})
	case 0:
		return append(t, gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Text, Text: words()},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text, Text: words()})
	case 1:
		return append(t, gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Text, Text: words()},
			gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Opaque, Media: "image_url"},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Reasoning, Text: words()},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.ToolCall, Tool: "look", CallID: id, Text: `{}`})
	}
	return append(t, gatehouse.Part{Role: gatehouse.Tool, Kind: gatehouse.ToolResult, CallID: id, Text: words()},
		gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text, Text: words()})
}

// Whatever is remembered, in whatever order conversations come, go on, part and change: a transcript is the one that is written anew.
func TestRememberedTranscripts(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 3)) //nolint:gosec // the same each time
	plain := &Resolver{Key: []byte("key")}
	remembering := &Resolver{Key: plain.Key, Memory: NewMemory(1 << 20)}
	talks := []talk{{{Role: gatehouse.System, Kind: gatehouse.Text, Text: "Be kind."}}}
	for n := range 400 {
		one := talks[random.IntN(len(talks))]
		switch random.IntN(8) {
		case 0: // another conversation goes on from the middle of one
			one = one[:1+random.IntN(len(one))]
		case 1: // one old part is another
			one = append(talk(nil), one...)
			p := &one[random.IntN(len(one))]
			if random.IntN(2) == 0 {
				p.Text += " "
			} else {
				p.Text, p.CallID = strings.Replace(p.Text, "w", "v", 1), p.CallID+"0"
			}
		}
		one = one[:len(one):len(one)].turn(random, n)
		talks = append(talks, one)
		ask := one.turn(random, n+1)
		agent := fmt.Sprint("mnm-", random.IntN(2))
		x, y := ask[:len(ask)-1].request(agent), ask[:len(ask)-1].request(agent)
		got, later := remembering.lastTurn(x)
		want, wantLater := plain.lastTurn(y)
		if got != want || later != wantLater {
			t.Fatalf("conversation %d: another transcript", n)
		}
		for _, x := range []*gatehouse.Exchange{x, y} {
			x.Answer(ask[len(ask)-1])
		}
		if got, want := remembering.Transcripts(x), plain.Transcripts(y); len(got) == 0 || !slices.Equal(got, want) {
			t.Fatalf("conversation %d: another transcript with its answer", n)
		}
	}
	if s := remembering.Memory.kept.Stats(); s.Values < 100 || s.Bytes > 1<<20 {
		t.Errorf("remembered: %+v", s)
	}
}

// What was sent before is not written again: of the transcript there is only what is new to add.
func TestTranscriptGoesOn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // as above
	r := &Resolver{Key: []byte("key"), Memory: NewMemory(1 << 20)}
	var one talk
	old := 0 // how many parts of the last request were old
	for n := range 60 {
		one = one.turn(random, n)
		x := append(one[:len(one):len(one)], gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Text, Text: "and now?"}).request("mnm-1")
		if n > 0 {
			counted := func(p gatehouse.Part) bool { return counts(&p) }
			if t1, from := r.longest(r.marks(x, len(one))); t1 == nil || slices.ContainsFunc(x.Request[from:max(from, old)], counted) {
				t.Fatalf("turn %d: of %d old parts %d are known", n, old, from)
			}
			for _, change := range []func(p *gatehouse.Part){
				func(p *gatehouse.Part) { p.Text += "." },
				func(p *gatehouse.Part) { p.Role = gatehouse.Tool },
				func(p *gatehouse.Part) { p.CallID += "0" },
				func(p *gatehouse.Part) { p.Tool += "x" },
				func(p *gatehouse.Part) { p.Kind = gatehouse.ToolCall },
			} {
				y := append(talk(nil), one...)
				change(&y[0])
				if _, from := r.longest(r.marks(y.request("mnm-1"), len(y))); from > 0 {
					t.Fatalf("turn %d: a changed part is taken for the one that was sent", n)
				}
			}
			if _, from := r.longest(r.marks(one.request("mnm-2"), len(one))); from > 0 {
				t.Fatalf("turn %d: known to another agent", n)
			}
		}
		r.lastTurn(x)
		old = len(one)
	}
}

// A call without an id is known by its tool: another tool's, with the same arguments, is another conversation.
func TestRememberedTranscriptsKnowTools(t *testing.T) {
	r := &Resolver{Key: []byte("key"), Memory: NewMemory(1 << 20)}
	for _, tool := range []string{"read_file", "delete_file"} {
		one := talk{
			{Role: gatehouse.User, Kind: gatehouse.Text, Text: "do it"},
			{Role: gatehouse.Assistant, Kind: gatehouse.ToolCall, Tool: tool, Text: "{}"},
			{Role: gatehouse.Tool, Kind: gatehouse.ToolResult, Tool: tool, Text: "ok"},
		}
		want, _ := (&Resolver{Key: r.Key}).lastTurn(one.request("mnm-1"))
		if got, _ := r.lastTurn(one.request("mnm-1")); got != want {
			t.Errorf("%s: the transcript of another conversation", tool)
		}
	}
}

// One transcript is gone on from by several at once.
func TestTranscriptsAtOnce(t *testing.T) {
	r := &Resolver{Key: []byte("key"), Memory: NewMemory(1 << 20)}
	one := talk(nil).turn(rand.New(rand.NewPCG(1, 2)), 1) //nolint:gosec // as above
	want, _ := (&Resolver{Key: r.Key}).lastTurn(one.request("mnm-1"))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			next := append(one[:len(one):len(one)], gatehouse.Part{Role: gatehouse.Tool, Kind: gatehouse.ToolResult, CallID: "call_1", Text: fmt.Sprint(i)})
			if got, _ := r.lastTurn(next.request("mnm-1")); got != want {
				t.Error("another transcript")
			}
			r.lastTurn(append(next, gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text, Text: "done"}).request("mnm-1"))
		})
	}
	all.Wait()
}

// A text that an edit or another took the place of has another key.
func TestTextKeys(t *testing.T) {
	r := &Resolver{Key: []byte("key")}
	seen := map[Digest]string{}
	texts := []string{"one", "one ", "two"}
	for _, policy := range []string{"", "strict"} {
		for _, role := range []gatehouse.Role{gatehouse.User, gatehouse.Tool} {
			for _, kind := range []gatehouse.Kind{gatehouse.Text, gatehouse.ToolResult} {
				x := &gatehouse.Exchange{}
				for _, text := range texts {
					x.Ask(gatehouse.Part{Role: role, Kind: kind, Text: text})
				}
				for i, key := range r.TextKeys(policy, x) {
					name := fmt.Sprint(policy, role, kind, texts[i])
					if other, ok := seen[key]; ok {
						t.Errorf("%s has the key of %s", name, other)
					}
					seen[key] = name
				}
				first := r.TextKeys(policy, x)
				x.Apply([]gatehouse.Edit{{Part: 0, Op: gatehouse.Replace, End: 3, Text: "two"}})
				x.Request[1].Text = "two"
				again := r.TextKeys(policy, x)
				if again[0] != first[0] {
					t.Error("an edit has changed the key of what was sent")
				}
				if again[1] != first[2] {
					t.Error("the key of a text that has changed is still the old one")
				}
			}
		}
	}
}

// BenchmarkOldTurns is what the transcript and the keys of a conversation of 200 requests cost when it is sent again, by its old text.
func BenchmarkOldTurns(b *testing.B) {
	r := &Resolver{Key: make([]byte, 32), Memory: NewMemory(1 << 20)}
	text := strings.Repeat("The quarterly report lists 42 open orders, and the finance team wants a short summary by Friday.\n", 15)
	var one talk
	size := 0
	for n := range 100 {
		id := fmt.Sprint("call_", n)
		one = append(one, gatehouse.Part{Role: gatehouse.User, Kind: gatehouse.Text, Text: text},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.ToolCall, CallID: id, Text: `{"name":"x"}`},
			gatehouse.Part{Role: gatehouse.Tool, Kind: gatehouse.ToolResult, CallID: id, Text: text},
			gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text, Text: text[:400]})
		size += 2*len(text) + 400
	}
	x := one.request("mnm-1")
	b.ReportAllocs()
	for b.Loop() {
		x.Memo = nil
		r.lastTurn(x)
		r.TextKeys("policy", x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)*1.024, "µs/KiB")
}
