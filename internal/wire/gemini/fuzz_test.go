package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/jsonarray"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/wiretest"
)

// editable reports whether a part can be edited: a text whose place in the bytes is known, as it is not empty.
func editable(p gatehouse.Part) bool {
	return p.Text != "" && p.Kind != gatehouse.Opaque && !p.Signed && p.Kind != gatehouse.ToolCall
}

// sameTexts compares what parts say: their paths move when an element goes.
func sameTexts(t *testing.T, got, want []gatehouse.Part) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d parts, want %d", len(got), len(want))
	}
	for i := range want {
		a, b := got[i], want[i]
		a.Path, b.Path = "", ""
		if show(a) != show(b) {
			t.Fatalf("part %d is %s, want %s", i, show(a), show(b))
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"system_instruction":{"parts":{"text":"s"}},"contents":[{"role":"user","parts":[{"text":"a\u0000"},{"inlineData":{}}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"x"}]},{"parts":[{"functionResponse":{"name":"f","response":{"result":"r"}}},{"function_response":{"name":"f","response":{"a":[1.50]}}}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"d"}]},{"google_search":{}}],"n":1.50}`), uint8(1), "x\n\"")
	f.Add([]byte(`{"contents":{"parts":{"text":"a"}}}`), uint8(0), "")
	f.Add([]byte(`{"requests":[{"content":{"parts":[{"text":"a"}]}}]}`), uint8(0), "")
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
			wrapped := parts[i].Kind == gatehouse.ToolResult // its form follows the text
			parts[i].Text = wiretest.Other(parts[i].Text, text)
			again := wiretest.Reread(t, r, parts, wiretest.Request(Codec{}))
			if wrapped {
				again[i].Text, again[i].Path = parts[i].Text, parts[i].Path
			}
			sameTexts(t, again, parts)
		}
		q := r.(*request)
		added := wiretest.Reread(t, r, insert(0, "added")(r.Parts()), wiretest.Request(Codec{}))
		found := !q.contents.Exists() || q.embedded
		for _, p := range added {
			found = found || p.Role == gatehouse.User && p.Text == "added"
		}
		if !found {
			t.Fatal("the inserted text is not there")
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(saidParts(`{"text":"t","thought":true},{"text":"a"},{"functionCall":{"name":"f"},"thoughtSignature":"x"},{"text":"b"},{"functionCall":{"name":"g","args":{}}}`)), uint8(1), "x\n\"")
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"executableCode":{"code":"a"}},{"codeExecutionResult":{"output":"b"}}]},"citationMetadata":{}},{"finishReason":"SAFETY"}]}`), uint8(0), "")
	f.Fuzz(func(t *testing.T, body []byte, n uint8, text string) {
		var made recorder
		r, err := Codec{}.Response(body, &made)
		if err != nil {
			return
		}
		if same, err := r.Bytes(made.parts); err != nil || string(same) != string(body) {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		again := func(parts []gatehouse.Part) []gatehouse.Part {
			t.Helper()
			return wiretest.Reread(t, r, parts, wiretest.Response(Codec{}))
		}
		checkEdits(t, made.parts, n, text, again)
	})
}

func FuzzStream(f *testing.F) {
	docs := []string{piece(`{"text":"t","thought":true}`, ``), piece(`{"text":"one "}`, ``), piece(`{"text":"two"},{"functionCall":{"name":"f"},"thoughtSignature":"x"}`, ``), piece(`{"functionCall":{"name":"g"}}`, finish)}
	f.Add(events(docs...), false, uint8(0), "x\r\n")
	f.Add(elements(docs...), true, uint8(1), "")
	f.Add(": c\n\ndata: {\"candidates\":\ndata: [{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n", false, uint8(0), "é")
	f.Fuzz(func(t *testing.T, stream string, array bool, n uint8, text string) {
		var made recorder
		s, err := play(&made, stream, array)
		if err != nil {
			return
		}
		if same, err := s.Bytes(made.parts); err != nil || string(same) != stream {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		again := func(parts []gatehouse.Part) []gatehouse.Part {
			out, err := s.Bytes(parts)
			if err != nil {
				t.Fatal(err)
			}
			checkDocuments(t, string(out), array)
			var sink recorder
			if _, err := play(&sink, string(out), array); err != nil {
				t.Fatalf("%v: %q", err, out)
			}
			return sink.parts
		}
		checkEdits(t, made.parts, n, text, again)
	})
}

// checkEdits edits a text, removes a call and inserts a text, each alone, and looks whether that is what is read again.
func checkEdits(t *testing.T, made []gatehouse.Part, n uint8, text string, again func([]gatehouse.Part) []gatehouse.Part) {
	t.Helper()
	if i, ok := wiretest.Pick(made, n, editable); ok {
		parts := append([]gatehouse.Part(nil), made...)
		parts[i].Text = wiretest.Other(parts[i].Text, text)
		sameTexts(t, inOrder(again(parts)), inOrder(parts))
	}
	for i, p := range made {
		// What stands beside a call in its part goes with it.
		alone := !(i > 0 && beside(made[i-1], p)) && !(i+1 < len(made) && beside(made[i+1], p))
		if p.Kind == gatehouse.ToolCall && !p.Hosted() && alone {
			kept := append(append([]gatehouse.Part(nil), made[:i]...), made[i+1:]...)
			sameTexts(t, again(remove(i, "")(append([]gatehouse.Part(nil), made...))), kept)
			break
		}
	}
	if len(made) == 0 {
		return
	}
	said := ""
	for _, p := range again(insert(made[0].Choice, "added")(append([]gatehouse.Part(nil), made...))) {
		if p.Choice == made[0].Choice && p.Kind == gatehouse.Text {
			said += p.Text
		}
	}
	if !strings.HasSuffix(said, "added") {
		t.Fatalf("the inserted text is not at the end of %q", said)
	}
}

// beside reports whether an opaque part may stand in the same part of the API's as a call.
func beside(p, call gatehouse.Part) bool {
	return p.Kind == gatehouse.Opaque && strings.HasPrefix(call.Path, p.Path)
}

// inOrder puts texts and thoughts before everything else: a run begins where its first piece is left.
func inOrder(parts []gatehouse.Part) []gatehouse.Part {
	var out []gatehouse.Part
	for _, kind := range []gatehouse.Kind{gatehouse.Text, gatehouse.Reasoning, ""} {
		for choice := range maxIndex + 1 {
			if len(out) == len(parts) {
				break
			}
			for _, p := range parts {
				runs := p.Kind == gatehouse.Text || p.Kind == gatehouse.Reasoning && !p.Signed
				if p.Choice == choice && (runs && p.Kind == kind || !runs && kind == "") {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// checkDocuments checks that every event is JSON.
func checkDocuments(t *testing.T, stream string, array bool) {
	t.Helper()
	if !utf8.ValidString(stream) {
		return // outside of the data, as it came
	}
	next := sse.NewReader(strings.NewReader(stream), 0).Next
	if array {
		next = jsonarray.NewReader(strings.NewReader(stream), 0).Next
		if !json.Valid([]byte(stream)) {
			t.Fatalf("not JSON: %q", stream)
		}
	}
	for {
		e, err := next()
		if data := strings.TrimSpace(e.Data); data != "" && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("not JSON: %q", data)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
