package responses

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// trickle plays a stream event by event and collects what leaves by a word on each part, and what has left by the end of each event.
func trickle(t *testing.T, text string, free func(p gatehouse.Part) int) (s wire.Incremental, made *recorder, left []string) {
	t.Helper()
	made = &recorder{}
	s = Codec{}.Stream(made).(wire.Incremental) //nolint:errcheck // the compiler has asserted it
	all := ""
	for r := sse.NewReader(strings.NewReader(text), 0); ; {
		e, err := r.Next()
		if err != nil {
			return s, made, left
		}
		if err := s.Event(e.Raw, e.Name, e.Data); err != nil {
			t.Fatal(err)
		}
		out, err := s.Next(made.parts, func(part int) int { return free(made.parts[part]) }, false)
		if err != nil {
			t.Fatal(err)
		}
		all += string(out)
		left = append(left, all)
	}
}

func when(left []string, text string) int {
	for i, all := range left {
		if strings.Contains(all, text) {
			return i
		}
	}
	return -1
}

func TestNext(t *testing.T) {
	everything := func(gatehouse.Part) int { return gatehouse.Everything }
	without := func(kind gatehouse.Kind) func(gatehouse.Part) int {
		return func(p gatehouse.Part) int {
			if p.Kind == kind {
				return 0
			}
			return gatehouse.Everything
		}
	}
	for _, c := range []struct {
		desc, text string // leaves with the event
		free       func(gatehouse.Part) int
		want       int
	}{
		{"the response begins", "response.created", everything, 0},
		{"reasoning waits for the item behind it to say something", `"delta":"hm"`, everything, 9},
		{"a text does not wait", `"delta":"ab"`, everything, 9},
		{"what is announced waits with its text", `"id":"m"`, without(gatehouse.Text), -1},
		{"and so does the reasoning before it", `"delta":"hm"`, without(gatehouse.Text), -1},
		{"a piece of a text is decided", `"delta":"ab"`, func(p gatehouse.Part) int { return min(len(p.Text), 3) }, 9},
		{"the next one is not", `"delta":"cd"`, func(p gatehouse.Part) int { return min(len(p.Text), 3) }, -1},
		{"a call that is decided", `"id":"fc"`, func(gatehouse.Part) int { return gatehouse.Decided }, 15},
		{"a call that is not", `"id":"fc"`, without(gatehouse.ToolCall), -1},
		{"the end", "response.completed", everything, -1},
	} {
		t.Run(c.desc, func(t *testing.T) {
			if _, _, left := trickle(t, answered(), c.free); when(left, c.text) != c.want {
				t.Errorf("it left with event %d, want %d", when(left, c.text), c.want)
			}
		})
	}
}

// TestReasoningWaitsForACall: a call takes its reasoning along, so that waits until the call is decided.
func TestReasoningWaitsForACall(t *testing.T) {
	events := strings.SplitAfter(answered(), "\n\n")
	text := strings.Join(append(append([]string{}, events[:7]...), strings.ReplaceAll(strings.Join(events[15:20], ""), `"output_index":2`, `"output_index":1`)), "")
	for free, want := range map[int]int{0: -1, gatehouse.Decided: 7} {
		_, _, left := trickle(t, text, func(p gatehouse.Part) int {
			if p.Kind == gatehouse.ToolCall {
				return free
			}
			return gatehouse.Everything
		})
		if got := when(left, `"delta":"hm"`); got != want {
			t.Errorf("with a call of which %d is free, it left with event %d, want %d", free, got, want)
		}
	}
}

// TestStop: a stream that is stopped in the middle of an item ends that, tells why, and its response has what was sent, as it was sent.
func TestStop(t *testing.T) {
	s, made, left := trickle(t, strings.Join(strings.SplitAfter(answered(), "\n\n")[:10], ""), func(gatehouse.Part) int { return gatehouse.Everything })
	all := left[len(left)-1] + string(s.Stop("stopped"))
	var again recorder
	if _, err := play(&again, all); err != nil {
		t.Fatalf("%v in %s", err, all)
	}
	want := shown(made.parts) + "\nassistant text output[2].content[0] \"stopped\""
	if got := shown(again.parts); got != want || !strings.Contains(got, `"ab"`) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, part := range []string{`"status":"incomplete"`, `"incomplete_details":{"reason":"content_filter"}`, `"status":"completed"`} {
		if !strings.Contains(all, part) {
			t.Errorf("no %s in %s", part, all)
		}
	}
	fresh, _, _ := trickle(t, "", nil)
	if out := string(fresh.Stop("stopped")); !strings.HasPrefix(out, "event: response.created\n") || !strings.Contains(out, "response.completed") {
		t.Errorf("without a beginning: %s", out)
	}
}

// Tokens that would have been likely come with every piece where they are asked for: were each to wait for the end of the text, nothing
// would stream.
func TestLikelyTokensDoNotWait(t *testing.T) {
	const begin = `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}` + "\n\n"
	for tokens, want := range map[string]int{`{"token":"Hi ","top_logprobs":[{"token":"Hi "},{"token":"Ho "}]}`: 1, `{"token":"Ho ","top_logprobs":[]}`: -1} {
		_, made, left := trickle(t, begin+`data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"m","delta":"Hi ","logprobs":[`+tokens+`]}`+"\n\n",
			func(p gatehouse.Part) int { return len(p.Text) })
		if got := when(left, "delta"); got != want || len(made.unread) == 0 {
			t.Errorf("%s left with event %d, want %d; unread is %q", tokens, got, want, made.unread)
		}
	}
}
