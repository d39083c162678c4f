package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/jsonarray"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/completions"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/gemini"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/responses"
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
	if p.Kind == gatehouse.ToolCall && whole && p.Tool != "bad" {
		return gatehouse.Decided, nil
	}
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
	t    *testing.T // nil: what leaves early is not looked at
	flow *gatehouse.Flow
	body wire.Incremental
	out  bytes.Buffer
}

func (o *outlet) Begin(r *upstream.Reply) {
	o.body = r.Body.(wire.Incremental) //nolint:errcheck // all codecs promise it
	o.flow.Follow()
	o.flow.Window(func(parts []gatehouse.Part, free func(int) int) error {
		out, err := o.body.Next(parts, free, false)
		o.out.Write(out)
		return err
	})
}

func (o *outlet) Event() (int, error) {
	err := o.flow.Event()
	if o.t != nil && (strings.Contains(o.out.String(), "zz") || strings.Contains(o.out.String(), "bad")) {
		o.t.Fatalf("what is taken out has left: %s", o.out.String())
	}
	return o.body.Held(), err
}

func (o *outlet) Sent() bool { return o.out.Len() > 0 }

// answering is an upstream with one answer, in pieces.
type answering struct {
	body string
	kind string
	dice *rand.Rand
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(a), Request: r}, nil
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
func exchange(t *testing.T, codec wire.Codec, from *answering, window bool) (all string, soon int) {
	t.Helper()
	out := &outlet{t: t}
	all, err := out.exchange(t.Context(), codec, from, window)
	if err != nil {
		t.Fatal(err)
	}
	if window && out.body.Held() != 0 {
		t.Errorf("%d bytes are held at the end", out.body.Held())
	}
	return all, out.out.Len()
}

func (o *outlet) exchange(ctx context.Context, codec wire.Codec, from *answering, window bool) (string, error) {
	var c gatehouse.Checker = &masker{}
	if window {
		c = &early{}
	}
	x := &gatehouse.Exchange{}
	var reply *upstream.Reply
	err := gatehouse.Guard(ctx, c, x, func(ctx context.Context, f *gatehouse.Flow) (err error) {
		var watch upstream.Watch
		if o.flow = f; window {
			watch = o
		}
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.example/", http.NoBody) //nolint:errcheck // a fixed one
		reply, err = (&upstream.Client{Transport: from}).Send(ctx, r, upstream.Limits{Idle: time.Minute, Buffer: 1 << 20, Body: 1 << 20}, codec, f, watch)
		return err
	})
	if err != nil {
		return "", err
	}
	write := reply.Body.Bytes
	if o.body != nil { // it came in events
		write = func(parts []gatehouse.Part) ([]byte, error) { return o.body.Next(parts, wire.Free, true) }
	}
	rest, err := write(x.Response)
	return o.out.String() + string(rest), err
}

// sink joins the texts of an answer, and lists its calls.
type sink struct {
	parts []gatehouse.Part
}

func (s *sink) Open(p gatehouse.Part) int { s.parts = append(s.parts, p); return len(s.parts) - 1 }
func (s *sink) Text(id int, delta string) { s.parts[id].Text += delta }
func (*sink) Close(int)                   {}
func (*sink) Unread(string)               {}
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

// read reads an answer that ends as the format wants it.
func read(t *testing.T, codec wire.Codec, stream, kind string) (text, calls string) {
	t.Helper()
	to, done, err := tryRead(codec, stream, kind)
	if err != nil || !done {
		t.Fatalf("%v, done %v, in %s", err, done, stream)
	}
	return to.said()
}

func tryRead(codec wire.Codec, stream, kind string) (to sink, done bool, err error) {
	var (
		s    wire.Stream
		next func() (sse.Event, error)
	)
	if c, ok := codec.(wire.Arrays); ok && kind == array {
		s, next = c.Elements(&to), jsonarray.NewReader(strings.NewReader(stream), 0).Next
	} else {
		s, next = codec.Stream(&to), sse.NewReader(strings.NewReader(stream), 0).Next
	}
	for {
		e, err := next()
		if errors.Is(err, io.EOF) {
			return to, s.Done(), nil
		}
		if err == nil {
			err = s.Event(e.Raw, e.Name, e.Data)
		}
		if err != nil {
			return to, false, err
		}
	}
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

// legacy writes a stream of text completions, which make no calls.
func legacy(pieces, _ []string) string {
	var out []byte
	for _, p := range pieces {
		out = sse.Append(out, "", `{"choices":[{"index":0,"text":`+string(rawjson.Quote(p))+`,"logprobs":null,"finish_reason":null}]}`)
	}
	out = sse.Append(out, "", `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`)
	return string(sse.Append(out, "", "[DONE]"))
}

// generate writes the chunks of generateContent: every other one holds two pieces.
func generate(pieces, tools []string) (chunks []string) {
	add := func(rest string, parts ...string) {
		chunks = append(chunks, `{"candidates":[{"content":{"parts":[`+strings.Join(parts, ",")+`],"role":"model"}`+rest+`}],"modelVersion":"m"}`)
	}
	for len(pieces) > 0 {
		n, parts := min(len(pieces), 1+len(pieces)%2), []string(nil)
		for _, p := range pieces[:n] {
			parts = append(parts, `{"text":`+string(rawjson.Quote(p))+`}`)
		}
		add("", parts...)
		pieces = pieces[n:]
	}
	for i, name := range tools {
		add("", fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"%s","args":{}}}`, i, name))
	}
	add(`,"finishReason":"STOP"`, `{"text":""}`)
	return chunks
}

func generated(pieces, tools []string) string {
	var out []byte
	for _, c := range generate(pieces, tools) {
		out = sse.Append(out, "", c)
	}
	return string(out)
}

func elements(pieces, tools []string) string {
	return "[" + strings.Join(generate(pieces, tools), "\n,\r\n") + "\n]\n"
}

// responding writes a stream of a response: reasoning, messages of two texts, and calls.
func responding(pieces, tools []string) string {
	var out []byte
	var items []string
	number := 0
	add := func(name, rest string) {
		out = sse.Append(out, name, fmt.Sprintf(`{"type":"%s","sequence_number":%d%s}`, name, number, rest))
		number++
	}
	begin := func(item string) {
		add("response.output_item.added", fmt.Sprintf(`,"output_index":%d,"item":%s`, len(items), item))
	}
	end := func(item string) {
		add("response.output_item.done", fmt.Sprintf(`,"output_index":%d,"item":%s`, len(items), item))
		items = append(items, item)
	}
	add("response.created", `,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`)
	begin(`{"id":"rs","type":"reasoning","summary":[]}`)
	end(`{"id":"rs","type":"reasoning","summary":[]}`)
	for len(pieces) > 0 {
		n, id, content := min(len(pieces), 6), fmt.Sprintf("m%d", len(items)), []string(nil)
		begin(`{"id":"` + id + `","type":"message","role":"assistant","status":"in_progress","content":[]}`)
		for len(pieces) > 0 && n > 0 {
			at := fmt.Sprintf(`,"output_index":%d,"content_index":%d,"item_id":"%s"`, len(items), len(content), id)
			add("response.content_part.added", at+`,"part":{"type":"output_text","annotations":[],"text":""}`)
			said := ""
			for _, p := range pieces[:min(n, 3)] {
				add("response.output_text.delta", at+`,"delta":`+string(rawjson.Quote(p)))
				said += p
			}
			add("response.output_text.annotation.added", at+`,"annotation_index":0,"annotation":{"type":"url_citation"}`)
			pieces, n = pieces[min(n, 3):], n-3
			whole := `{"type":"output_text","annotations":[{"type":"url_citation"}],"text":` + string(rawjson.Quote(said)) + `}`
			add("response.output_text.done", at+`,"text":`+string(rawjson.Quote(said)))
			add("response.content_part.done", at+`,"part":`+whole)
			content = append(content, whole)
		}
		end(`{"id":"` + id + `","type":"message","role":"assistant","status":"completed","content":[` + strings.Join(content, ",") + `]}`)
	}
	for i, name := range tools {
		at := fmt.Sprintf(`,"output_index":%d,"item_id":"fc%d"`, len(items), i)
		item := fmt.Sprintf(`{"id":"fc%d","type":"function_call","call_id":"c%d","name":"%s","arguments":`, i, i, name)
		begin(item + `""}`)
		add("response.function_call_arguments.delta", at+`,"delta":"{"`)
		add("response.function_call_arguments.delta", at+`,"delta":"}"`)
		add("response.function_call_arguments.done", at+`,"arguments":"{}"`)
		end(item + `"{}"}`)
	}
	add("response.completed", `,"response":{"id":"resp_1","object":"response","status":"completed","output":[`+strings.Join(items, ",")+`]}`)
	return string(out)
}

const (
	eventStream = "text/event-stream"
	array       = "application/json"
)

// formats are those that stream, and how each of them says the same.
var formats = map[string]struct {
	codec wire.Codec
	kind  string
	write func(pieces, tools []string) string
	calls bool // it has any
}{
	"openai":       {openai.Codec{}, eventStream, chat, true},
	"completions":  {completions.Codec{Codec: openai.Codec{}}, eventStream, legacy, false},
	"responses":    {responses.Codec{}, eventStream, responding, true},
	"anthropic":    {anthropic.Codec{}, eventStream, messages, true},
	"gemini":       {gemini.Codec{}.At("/v1beta/models/m:streamGenerateContent", url.Values{"alt": {"sse"}}), eventStream, generated, true},
	"gemini array": {gemini.Codec{}.At("/v1beta/models/m:streamGenerateContent", nil), array, elements, true},
}

// TestWindowSaysTheSame: however an answer comes, what leaves early and what leaves at its end are together what leaves when
// all of it is held; what is taken out never leaves; and a clean answer leaves as it came, byte for byte.
func TestWindowSaysTheSame(t *testing.T) {
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			early := 0
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
				held, _ := exchange(t, f.codec, &answering{stream, f.kind, dice}, false)
				window, soon := exchange(t, f.codec, &answering{stream, f.kind, dice}, true)
				early += soon
				text, calls := read(t, f.codec, held, f.kind)
				if gotText, gotCalls := read(t, f.codec, window, f.kind); gotText != text || gotCalls != calls {
					t.Fatalf("of %s\ngot  %q %q in %s\nwant %q %q in %s", stream, gotText, gotCalls, window, text, calls, held)
				}
				bad := strings.Contains(stream, `"bad"`)
				if strings.Contains(window, "zz") || strings.Contains(window, `"bad"`) || bad && !strings.Contains(window, "refused") {
					t.Fatalf("of %s\nthis is left: %s", stream, window)
				}
				if !strings.Contains(stream, "zz") && !bad && window != stream {
					t.Fatalf("a clean stream became %s", window)
				}
			}
			if early < 400 {
				t.Errorf("no more than %d bytes have left early", early)
			}
		})
	}
}
