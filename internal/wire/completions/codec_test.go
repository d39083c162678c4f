package completions

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// recorder is a sink that keeps the parts.
type recorder struct {
	parts  []gatehouse.Part
	unread []string
}

func (r *recorder) Open(p gatehouse.Part) int {
	p.ID = len(r.parts)
	r.parts = append(r.parts, p)
	return p.ID
}

func (r *recorder) Text(id int, delta string) { r.parts[id].Text += delta }
func (r *recorder) Close(int)                 {}

func (r *recorder) Unread(path string) { r.unread = append(r.unread, path) }

func play(to wire.Sink, stream string) (wire.Stream, error) {
	s := Codec{}.Stream(to)
	for r := sse.NewReader(strings.NewReader(stream), 0); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if bad := s.Event(e.Raw, e.Name, e.Data); bad != nil {
			return s, bad
		}
		if err != nil {
			return s, nil //nolint:nilerr // a stream may end in the middle of an event
		}
	}
}

func texts(parts []gatehouse.Part) (list []string) {
	for _, p := range parts {
		list = append(list, string(p.Kind)+" "+p.Path+" "+p.Text)
	}
	return list
}

func TestRequest(t *testing.T) {
	more := gatehouse.Part{Kind: gatehouse.Text, Text: "more", Inserted: true}
	for body, want := range map[string]struct{ parts, added string }{
		`{"prompt":"a","suffix":"s"}`: {"text prompt a,text suffix s", `{"prompt":"a\n\nmore","suffix":"s"}`},
		`{"prompt":["a","b"]}`:        {"text prompt[0] a,text prompt[1] b", `{"prompt":["a\n\nmore","b"]}`},
		`{"prompt":[1,2]}`:            {"opaque prompt ", `{"prompt":[1,2]}`},
		`{"prompt":[[1],"b"]}`:        {"opaque prompt[0] ,text prompt[1] b", `{"prompt":[[1],"b\n\nmore"]}`},
		`{}`:                          {"", `{}`},
	} {
		r, err := Codec{}.Request([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(texts(r.Parts()), ","); got != want.parts {
			t.Errorf("%s: parts %s, want %s", body, got, want.parts)
		}
		if got, err := r.Bytes(append(r.Parts(), more)); err != nil || string(got) != want.added {
			t.Errorf("%s: %v, %s, want %s", body, err, got, want.added)
		}
	}
	if _, err := (Codec{}).Request([]byte(`{"prompt":1}`)); err == nil {
		t.Error("a prompt that is a number was taken")
	}
}

func TestResponse(t *testing.T) {
	const body = `{"choices" : [{"text":"a","index":0,"logprobs":{"tokens":["a"]},"finish_reason":"stop"},{"text":"b","index":1,"logprobs":{}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	var made recorder
	r, err := Codec{}.Response([]byte(body), &made)
	if err != nil || r.Usage() != (gatehouse.Usage{Input: 1, Output: 2}) {
		t.Fatalf("%v, %+v", err, r)
	}
	if got, err := r.Bytes(made.parts); err != nil || string(got) != body {
		t.Errorf("without edits: %v, %s", err, got)
	}
	made.parts[1].Text = "c"
	got, err := r.Bytes(append(made.parts, gatehouse.Part{Text: "more", Choice: 1, Inserted: true}))
	if want := strings.Replace(body, `"b","index":1,"logprobs":{}`, `"c\n\nmore","index":1,"logprobs":null`, 1); err != nil || string(got) != want {
		t.Errorf("%v, got %s, want %s", err, got, want)
	}
	if _, err := r.Bytes(append(made.parts, gatehouse.Part{Text: "more", Choice: 7, Inserted: true})); err == nil {
		t.Error("text was added to a choice that is not there")
	}
}

const chunks = "data: {\"choices\":[{\"index\":0,\"text\":\"ab\",\"logprobs\":{\"tokens\":[\"ab\"]}}]}\n\n" +
	"data: {\"choices\":[{\"index\":1,\"text\":\"x\"},{\"index\":0,\"text\":\"cd\"}]}\n\n" +
	"data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestStream(t *testing.T) {
	var made, again recorder
	s, err := play(&made, chunks)
	if err != nil || !s.Done() {
		t.Fatal(err)
	}
	if got := strings.Join(texts(made.parts), ","); got != "text choices[0].text abcd,text choices[1].text x" {
		t.Errorf("parts %s", got)
	}
	made.parts[0].Text = "new"
	out, err := s.Bytes(made.parts)
	if err != nil || strings.Contains(string(out), "ab") || strings.Contains(string(out), "cd") {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := play(&again, string(out)); err != nil || again.parts[0].Text != "new" || again.parts[1].Text != "x" {
		t.Errorf("%v: %+v", err, again.parts)
	}
}

func TestStoppedAnswersEveryChoice(t *testing.T) {
	for body, choices := range map[string]int{`{"prompt":"a"}`: 1, `{"prompt":["a","b"],"n":2}`: 4, `{"prompt":[1,2]}`: 1, `{"prompt":"a","n":2,"stream":true}`: 2} {
		r, err := Codec{}.Request([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		out, kind := Codec{}.Stopped(r, wire.Notice{RequestID: "i", Text: "stopped"})
		if got := strings.Count(string(out), `"text":"stopped"`); got != choices || !strings.Contains(string(out), "content_filter") || strings.Contains(kind, "stream") != r.Stream() {
			t.Errorf("%s: %d choices of %s: %s", body, got, kind, out)
		}
	}
}

func FuzzCompletion(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"a","index":0,"logprobs":{}}],"prompt":["p","q"],"suffix":"s"}`), chunks, "new\u2603")
	f.Fuzz(func(t *testing.T, body []byte, stream, text string) {
		var whole, pieces recorder
		if r, err := (Codec{}).Request(body); err == nil {
			if out, err := r.Bytes(r.Parts()); err != nil || string(out) != string(body) {
				t.Fatalf("request without edits: %v, %q", err, out)
			}
		}
		if r, err := (Codec{}).Response(body, &whole); err == nil {
			check(t, r, whole.parts, string(body), text, func(out []byte, to wire.Sink) error {
				if !json.Valid(out) {
					t.Fatalf("not JSON: %s", out)
				}
				_, err := Codec{}.Response(out, to)
				return err
			})
		}
		if s, err := play(&pieces, stream); err == nil {
			check(t, s, pieces.parts, stream, text, func(out []byte, to wire.Sink) error {
				_, err := play(to, string(out))
				return err
			})
		}
	})
}

// check looks at an answer without an edit and with one of its first part.
func check(t *testing.T, r wire.Response, parts []gatehouse.Part, was, text string, read func([]byte, wire.Sink) error) {
	t.Helper()
	if out, err := r.Bytes(parts); err != nil || string(out) != was {
		t.Fatalf("without edits: %v, %q", err, out)
	}
	if text = strings.ToValidUTF8(text, ""); len(parts) == 0 || text == "" {
		return
	}
	parts[0].Text = text
	out, err := r.Bytes(parts)
	var again recorder
	if err == nil {
		err = read(out, &again)
	}
	if err != nil || len(again.parts) != len(parts) {
		t.Fatalf("%v: %q", err, out)
	}
	for _, p := range again.parts {
		if p.Choice == parts[0].Choice && p.Text != text {
			t.Fatalf("got %q, want %q", p.Text, text)
		}
	}
}
