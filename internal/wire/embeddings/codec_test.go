package embeddings

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

func TestRequest(t *testing.T) {
	for body, want := range map[string][]gatehouse.Kind{
		`{"model":"m","input":"a","dimensions":1.0}`: {gatehouse.Text},
		`{"input":["a","b"]}`:                        {gatehouse.Text, gatehouse.Text},
		`{"input":[1,2]}`:                            {gatehouse.Opaque},
		`{"input":[[1],"b"]}`:                        {gatehouse.Opaque, gatehouse.Text},
		`{}`:                                         nil,
	} {
		r, err := Codec{}.Request([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		parts := r.Parts()
		if len(parts) != len(want) {
			t.Fatalf("%s: %d parts, want %d", body, len(parts), len(want))
		}
		for i, p := range parts {
			if p.Kind != want[i] || p.Role != gatehouse.User || !p.Latest {
				t.Errorf("%s: part %d is %+v", body, i, p)
			}
		}
		if got, err := r.Bytes(parts); err != nil || string(got) != body {
			t.Errorf("%s without edits: %v, %s", body, err, got)
		}
	}
}

func TestEdit(t *testing.T) {
	r, err := Codec{}.Request([]byte(`{"input" : ["a", "b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	parts := append(r.Parts(), gatehouse.Part{Text: "a warning", Inserted: true})
	parts[1].Text = "c"
	if got, err := r.Bytes(parts); err != nil || string(got) != `{"input" : ["a", "c"]}` {
		t.Errorf("%v: %s", err, got)
	}
}

func TestResponse(t *testing.T) {
	const body = `{"data":[{"embedding":[1.50]}],"usage":{"prompt_tokens":3}}`
	r, err := Codec{}.Response([]byte(body), nil)
	if err != nil || r.Usage().Input != 3 {
		t.Fatalf("%v: %+v", err, r)
	}
	if got, err := r.Bytes(nil); err != nil || string(got) != body {
		t.Errorf("%v: %s", err, got)
	}
	if _, err := (Codec{}).Response([]byte("{"), nil); err == nil {
		t.Error("a body that is no JSON was taken")
	}
	if err := (Codec{}).Stream(nil).Event(nil, "", "{}"); err == nil {
		t.Error("a stream was taken")
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"input":["a",1,"b"],"x":1.50}`), "c\u0000")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		r, err := Codec{}.Request(body)
		if err != nil {
			return
		}
		parts := r.Parts()
		if got, err := r.Bytes(parts); err != nil || string(got) != string(body) {
			t.Fatalf("without edits: %v, %q", err, got)
		}
		for i := range parts {
			parts[i].Text = "\u2603" + string([]rune(text))
		}
		out, err := r.Bytes(parts)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Codec{}.Request(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for i, p := range again.Parts() {
			if p.Kind == gatehouse.Text && p.Text != parts[i].Text {
				t.Fatalf("part %d is %q, want %q", i, p.Text, parts[i].Text)
			}
		}
	})
}
