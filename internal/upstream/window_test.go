package upstream_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
)

// masker is a checker that takes runs of the letter z out of texts, and calls of the tool bad, and says so as early as it can.
type masker struct{ growing map[int]string }

var run = regexp.MustCompile("z+")

func masked(id int, text string) (edits []gatehouse.Edit) {
	for _, m := range run.FindAllStringIndex(text, -1) {
		edits = append(edits, gatehouse.Edit{Part: id, Op: gatehouse.Replace, Start: m[0], End: m[1], Text: "[X]"})
	}
	return edits
}

func (m *masker) Check(_ context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	var edits []gatehouse.Edit
	for _, p := range x.Response {
		switch {
		case at == gatehouse.Back && p.Kind == gatehouse.Text:
			edits = append(edits, masked(p.ID, p.Text)...)
		case at == gatehouse.Autonomy && p.Tool == "bad":
			edits = append(edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Text: "refused"})
		}
	}
	x.Apply(edits)
	return gatehouse.Decision{}
}

func (m *masker) Finish(context.Context, *gatehouse.Exchange) error { return nil }

// early is a masker that can be followed.
type early struct{ masker }

func (e *early) Follow(ctx context.Context, _ *gatehouse.Exchange) (context.Context, gatehouse.Follower) {
	e.growing = map[int]string{}
	return ctx, e
}

func (e *early) Mode(gatehouse.Checkpoint) gatehouse.Mode { return gatehouse.Enforce }

func (e *early) Grow(p *gatehouse.Part, delta string, whole bool) (int, []gatehouse.Edit) {
	if p.Kind != gatehouse.Text {
		return 0, nil
	}
	e.growing[p.ID] += delta
	text := e.growing[p.ID]
	free := len(text)
	if !whole {
		free = len(strings.TrimRight(text, "z"))
	}
	return free, masked(p.ID, text[:free])
}

// outlet collects what leaves early.
type outlet struct {
	t    *testing.T
	flow *gatehouse.Flow
	body wire.Incremental
	out  bytes.Buffer
}

func (o *outlet) Begin(r *upstream.Reply) {
	o.body = r.Body.(wire.Incremental) //nolint:errcheck // both codecs promise it
	o.flow.Follow()
	o.flow.Window(func(parts []gatehouse.Part, free func(int) int) error {
		out, err := o.body.Next(parts, free, false)
		o.out.Write(out)
		return err
	})
}

func (o *outlet) Event() (int, error) {
	err := o.flow.Event()
	if strings.Contains(o.out.String(), "zz") || strings.Contains(o.out.String(), "bad") {
		o.t.Fatalf("what is taken out has left: %s", o.out.String())
	}
	return o.body.Held(), err
}

func (o *outlet) Sent() bool { return o.out.Len() > 0 }

// answering is an upstream with one answer, in pieces.
type answering struct {
	body string
	dice *rand.Rand
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(a), Request: r}, nil
}

func (a *answering) Read(p []byte) (int, error) {
	if a.body == "" {
		return 0, io.EOF
	}
	n := copy(p, a.body[:min(len(a.body), 1+a.dice.IntN(200))])
	a.body = a.body[n:]
	return n, nil
}

// exchange reads an answer, in the window or not, and returns what leaves in all.
func exchange(t *testing.T, codec wire.Codec, from *answering, window bool) string {
	t.Helper()
	var c gatehouse.Checker = &masker{}
	if window {
		c = &early{}
	}
	x, out := &gatehouse.Exchange{}, &outlet{t: t}
	var reply *upstream.Reply
	err := gatehouse.Guard(t.Context(), c, x, func(ctx context.Context, f *gatehouse.Flow) (err error) {
		var watch upstream.Watch
		if out.flow = f; window {
			watch = out
		}
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.example/", http.NoBody) //nolint:errcheck // a fixed one
		reply, err = (&upstream.Client{Transport: from}).Send(ctx, r, upstream.Limits{Idle: time.Minute, Buffer: 1 << 20, Body: 1 << 20}, codec, f, watch)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := reply.Body.Bytes(x.Response)
	if window {
		rest, err = out.body.Next(x.Response, wire.Free, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if window && out.body.Held() != 0 {
		t.Errorf("%d bytes are held at the end", out.body.Held())
	}
	return out.out.String() + string(rest)
}

// sink joins the texts of an answer, and lists its calls.
type sink struct {
	parts []gatehouse.Part
}

func (s *sink) Open(p gatehouse.Part) int { s.parts = append(s.parts, p); return len(s.parts) - 1 }
func (s *sink) Text(id int, delta string) { s.parts[id].Text += delta }
func (*sink) Close(int)                   {}
func (s *sink) said() (text, calls string) {
	for _, p := range s.parts {
		if p.Kind == gatehouse.Text {
			text += p.Text + "|"
		} else {
			calls += p.Tool + p.Text + "|"
		}
	}
	return text, calls
}

func read(t *testing.T, codec wire.Codec, stream string) (text, calls string) {
	t.Helper()
	var to sink
	s := codec.Stream(&to)
	for r := sse.NewReader(strings.NewReader(stream), 0); ; {
		e, err := r.Next()
		if err != nil {
			break
		}
		if err := s.Event(e.Raw, e.Name, e.Data); err != nil {
			t.Fatalf("%v in %s", err, stream)
		}
	}
	if !s.Done() {
		t.Fatalf("no end in %s", stream)
	}
	return to.said()
}

// chat writes a stream of chat completions.
func chat(pieces, tools []string) string {
	var out []byte
	add := func(delta, finish string) {
		out = sse.Append(out, "", `{"choices":[{"index":0,"delta":`+delta+`,"finish_reason":`+finish+`}]}`)
	}
	add(`{"role":"assistant"}`, "null")
	for _, p := range pieces {
		add(`{"content":`+string(rawjson.Quote(p))+`}`, "null")
	}
	for i, name := range tools {
		add(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"%s","arguments":"{"}}]}`, i, i, name), "null")
		add(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"}"}}]}`, i), "null")
	}
	add("{}", `"stop"`)
	return string(sse.Append(out, "", "[DONE]"))
}

// messages writes a stream of a message.
func messages(pieces, tools []string) string {
	var out []byte
	add := func(name, rest string) { out = sse.Append(out, name, `{"type":"`+name+`"`+rest+`}`) }
	add("message_start", `,"message":{"content":[]}`)
	block := 0
	for len(pieces) > 0 {
		n := min(len(pieces), 5)
		add("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"text","text":%s}`, block, rawjson.Quote(pieces[0])))
		for _, p := range pieces[1:n] {
			add("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"text_delta","text":%s}`, block, rawjson.Quote(p)))
		}
		add("content_block_stop", fmt.Sprintf(`,"index":%d`, block))
		pieces, block = pieces[n:], block+1
	}
	for i, name := range tools {
		add("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":"c%d","name":"%s","input":{}}`, block, i, name))
		add("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":"{}"}`, block))
		add("content_block_stop", fmt.Sprintf(`,"index":%d`, block))
		block++
	}
	add("message_delta", `,"delta":{"stop_reason":"tool_use"}`)
	add("message_stop", "")
	return string(out)
}

// TestWindowSaysTheSame: however an answer comes, what leaves early and what leaves at its end are together what leaves when
// all of it is held; what is taken out never leaves; and a clean answer leaves as it came, byte for byte.
func TestWindowSaysTheSame(t *testing.T) {
	for name, f := range map[string]struct {
		codec wire.Codec
		write func(pieces, tools []string) string
	}{"openai": {openai.Codec{}, chat}, "anthropic": {anthropic.Codec{}, messages}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(400) {
				dice := rand.New(rand.NewPCG(seed, 3))
				var pieces, tools []string
				for range dice.IntN(20) {
					piece := ""
					for range dice.IntN(6) {
						piece += []string{"a", "zz", "zz", " ", "\n", "é"}[dice.IntN(6)]
					}
					pieces = append(pieces, piece)
				}
				for range dice.IntN(3) {
					tools = append(tools, []string{"good", "bad"}[dice.IntN(2)])
				}
				stream := f.write(pieces, tools)
				held, window := exchange(t, f.codec, &answering{stream, dice}, false), exchange(t, f.codec, &answering{stream, dice}, true)
				text, calls := read(t, f.codec, held)
				if gotText, gotCalls := read(t, f.codec, window); gotText != text || gotCalls != calls {
					t.Fatalf("of %s\ngot  %q %q in %s\nwant %q %q in %s", stream, gotText, gotCalls, window, text, calls, held)
				}
				if !strings.Contains(stream, "zz") && !strings.Contains(stream, "bad") && window != stream {
					t.Fatalf("a clean stream became %s", window)
				}
			}
		})
	}
}
