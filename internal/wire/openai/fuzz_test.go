package openai

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/wiretest"
)

// editable reports whether a part can be edited: a text whose place in the bytes is known, as it is not empty.
func editable(p gatehouse.Part) bool { return p.Text != "" && p.Kind != gatehouse.Opaque }

// single leaves out each function_call that says what a call in tool_calls says: an edit can make it a copy of one, which
// is no part of its own when it is read again.
func single(parts []gatehouse.Part) []gatehouse.Part {
	var out []gatehouse.Part
	for _, p := range parts {
		home, legacy := strings.CutSuffix(p.Path, "function_call.arguments")
		copied := legacy && slices.ContainsFunc(parts, func(q gatehouse.Part) bool {
			place, _, now := strings.Cut(q.Path, "tool_calls[")
			return now && (place == home || strings.HasSuffix(home, ".delta.")) && // the place of a choice in a chunk says nothing
				q.Media == "" && q.Choice == p.Choice && q.Tool == p.Tool && q.Text == p.Text
		})
		if !copied {
			out = append(out, p)
		}
	}
	return out
}

func sameParts(t *testing.T, got, want []gatehouse.Part) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d parts, want %d", len(got), len(want))
	}
	for i := range want {
		if show(got[i]) != show(want[i]) {
			t.Fatalf("part %d is %s, want %s", i, show(got[i]), show(want[i]))
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a\u0000"},{"type":"image_url"}]},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}],"tools":[{"type":"function","function":{"name":"f","description":"d"}}],"n":1.50}`), uint8(1), "x\n\"")
	f.Add([]byte(`{"messages":[{"role":"user","content":""}]}`), uint8(0), "")
	f.Fuzz(func(t *testing.T, body []byte, n uint8, text string) {
		r, err := Codec{}.Request(body)
		if err != nil {
			return
		}
		if same, err := r.Bytes(r.Parts()); err != nil || string(same) != string(body) {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		parts := r.Parts()
		if i, ok := wiretest.Pick(parts, n, editable); ok {
			parts[i].Text = wiretest.Other(parts[i].Text, text)
			sameParts(t, single(wiretest.Reread(t, r, parts, wiretest.Request(Codec{}))), single(parts))
		}
		added := wiretest.Reread(t, r, insert(0, "added")(r.Parts()), wiretest.Request(Codec{}))
		found := false
		for _, p := range added {
			found = found || p.Role == gatehouse.User && strings.HasSuffix(p.Text, "added")
		}
		if !found {
			t.Fatal("the inserted text is not there")
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"choices":[{"index":0,"message":{"content":"a","refusal":"b","reasoning_content":"c","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"custom","custom":{"name":"g","input":"i"}}]},"logprobs":{},"finish_reason":"tool_calls"},{"index":1,"message":{"content":[{"type":"text","text":"x"}],"function_call":{"name":"f","arguments":"a"}}}]}`), uint8(2), "x")
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"x","text":"b"},{"type":"refusal","refusal":"c"}],"refusal":"d"}}]}`), uint8(0), "xyz")
	f.Add([]byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"a"}}],"function_call":{"name":"g","arguments":"b"}}}]}`), uint8(0), "")
	f.Add([]byte(`{"choices":[{"message":{"function_call":{"name":"f","arguments":"a"},"tool_calls":[{"function":{"name":"f","arguments":"a"}},{"function":{"name":"f","arguments":"b"}}]}}]}`), uint8(1), "a")
	f.Fuzz(func(t *testing.T, body []byte, n uint8, text string) {
		var made recorder
		r, err := Codec{}.Response(body, &made)
		if err != nil {
			return
		}
		if same, err := r.Bytes(made.parts); err != nil || string(same) != string(body) {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		reread := func(parts []gatehouse.Part) []gatehouse.Part {
			t.Helper()
			return wiretest.Reread(t, r, parts, wiretest.Response(Codec{}))
		}
		if i, ok := wiretest.Pick(made.parts, n, editable); ok {
			parts := append([]gatehouse.Part(nil), made.parts...)
			parts[i].Text = wiretest.Other(parts[i].Text, text)
			sameParts(t, single(reread(parts)), single(parts))
		}
		if i, kept, ok := withoutCall(made.parts, n); ok {
			sameParts(t, unplaced(single(reread(remove(i, "")(append([]gatehouse.Part(nil), made.parts...))))), unplaced(single(kept)))
		}
	})
}

// withoutCall chooses a call, and gives the parts that are left without it.
func withoutCall(parts []gatehouse.Part, n uint8) (i int, kept []gatehouse.Part, ok bool) {
	if i, ok = wiretest.Pick(parts, n, wiretest.Call); !ok {
		return 0, nil, false
	}
	return i, append(append(kept, parts[:i]...), parts[i+1:]...), true
}

// unplaced drops the paths: they move when an element goes.
func unplaced(parts []gatehouse.Part) []gatehouse.Part {
	out := append([]gatehouse.Part(nil), parts...)
	for i := range out {
		out[i].Path = ""
	}
	return out
}

func FuzzStream(f *testing.F) {
	f.Add(events(delta(`{"role":"assistant","content":"a","tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}},{"index":1,"id":"2","function":{"name":"g","arguments":"["}}]}`, `null`),
		delta(`{"content":"b","tool_calls":[{"index":1,"function":{"arguments":"]"}}]}`, `null`), delta(`{"refusal":"r","reasoning":"q"}`, `"tool_calls"`), `{"choices":[],"usage":{}}`, done), uint8(0), "x\r\n")
	f.Add(": c\r\n\r\nevent: e\rdata:{\"choices\":\rdata:[{\"delta\":{\"function_call\":{\"name\":\"f\",\"arguments\":\"x\"}}}]}\r\r", uint8(1), "")
	f.Add(events(twice("{", "{"), twice("}", "}"), delta(`{}`, `"tool_calls"`), done), uint8(0), "x")
	f.Add(events(twice("{", "{"), twice("}", "]"), done), uint8(1), "{}")
	f.Add(events(twice("{", "{"), delta(`{"functionKB_call":{},"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, `null`), done), uint8(0), "x")
	f.Fuzz(func(t *testing.T, stream string, n uint8, text string) {
		var made recorder
		s, err := tryPlay(&made, stream)
		if err != nil {
			return
		}
		if same, err := s.Bytes(made.parts); err != nil || string(same) != stream {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		reread := func(parts []gatehouse.Part) []gatehouse.Part {
			t.Helper()
			out, err := s.Bytes(parts)
			if err != nil {
				t.Fatal(err)
			}
			checkEvents(t, string(out), s.Done())
			var again recorder
			if _, err := tryPlay(&again, string(out)); err != nil {
				t.Fatalf("%v: %q", err, out)
			}
			return again.parts
		}
		if i, ok := wiretest.Pick(made.parts, n, editable); ok {
			parts := append([]gatehouse.Part(nil), made.parts...)
			parts[i].Text = wiretest.Other(parts[i].Text, text)
			sameParts(t, legacyLast(single(reread(parts))), legacyLast(single(parts)))
		}
		if i, kept, ok := withoutCall(made.parts, n); ok {
			sameParts(t, unplaced(legacyLast(single(reread(remove(i, "")(append([]gatehouse.Part(nil), made.parts...)))))), unplaced(legacyLast(single(kept))))
		}
		if len(made.parts) > 0 {
			choice := made.parts[0].Choice
			said := ""
			for _, p := range reread(insert(choice, "added")(append([]gatehouse.Part(nil), made.parts...))) {
				if p.Choice == choice && p.Kind == gatehouse.Text {
					said += p.Text
				}
			}
			if !strings.Contains(said, "added") {
				t.Fatalf("the inserted text is not in %q", said)
			}
		}
	})
}

// legacyLast puts the function_calls behind the other parts: one that repeats a call in tool_calls is opened where the two
// first differ, and an edit of either moves that place.
func legacyLast(parts []gatehouse.Part) []gatehouse.Part {
	legacy := func(p gatehouse.Part) bool { return strings.HasSuffix(p.Path, "function_call.arguments") }
	return append(slices.DeleteFunc(slices.Clone(parts), legacy),
		slices.DeleteFunc(slices.Clone(parts), func(p gatehouse.Part) bool { return !legacy(p) })...)
}

// checkEvents checks that every event is JSON or the terminal one, which is there if it was.
func checkEvents(t *testing.T, stream string, wantDone bool) {
	t.Helper()
	if !utf8.ValidString(stream) {
		return // outside of the data, as it came
	}
	saw := false
	for r := sse.NewReader(strings.NewReader(stream), 0); ; {
		e, err := r.Next()
		data := strings.TrimSpace(e.Data)
		saw = saw || data == done
		if data != "" && data != done && !json.Valid([]byte(data)) {
			t.Fatalf("not JSON: %q", data)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
	}
	if saw != wantDone {
		t.Fatalf("terminal event: %v, want %v", saw, wantDone)
	}
}
