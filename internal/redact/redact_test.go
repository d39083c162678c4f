package redact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

// in is a finding of what stands in text, every finding by the substring it covers.
func in(text, part string) gatehouse.Finding {
	at := strings.Index(text, part)
	if at < 0 {
		panic("no such part: " + part)
	}
	return gatehouse.Finding{Kind: "secret", Type: "x", Severity: gatehouse.Warn, Score: 0.5, Start: at, End: at + len(part)}
}

func TestEdits(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		parts []string
		want  string
	}{
		"plain text":                   {"my key is K1, keep it", []string{"K1"}, "my key is [X REDACTED], keep it"},
		"overlaps become one":          {"abcdef", []string{"bcd", "cde"}, "a[X REDACTED]f"},
		"neighbours become one":        {"abcdef", []string{"bc", "de"}, "a[X REDACTED]f"},
		"JSON value":                   {`{"k":"secret"}`, []string{"secret"}, `{"k":"[X REDACTED]"}`},
		"quotes stay":                  {`{"k":"secret"}`, []string{`"secret"`}, `{"k":"[X REDACTED]"}`},
		"escape stays whole":           {`{"k":"a\u00e9b"}`, []string{"e9b"}, `{"k":"a[X REDACTED]"}`},
		"pair stays whole":             {`{"k":"a\ud83d\ude00b"}`, []string{"3d"}, `{"k":"a[X REDACTED]b"}`},
		"escaped quote":                {`["say \"hi\" now"]`, []string{`"hi`}, `["say [X REDACTED]\" now"]`},
		"several values, names stay":   {`{"a":"one","b":"two"}`, []string{`one","b":"tw`}, `{"a":"[X REDACTED]","b":"[X REDACTED]o"}`},
		"inside of a name":             {`{"key":"v"}`, []string{`ke`}, `{"[X REDACTED]y":"v"}`},
		"names stay apart":             {`{"k1":1,"k2":2}`, []string{`k1`, `k2`}, `{"[X REDACTED]":1,"[X REDACTED] 2":2}`},
		"number":                       {`{"ssn":123456789}`, []string{"456"}, `{"ssn":0}`},
		"digits of a string stay text": {`{"ssn":"123"}`, []string{"123"}, `{"ssn":"[X REDACTED]"}`},
		"literal stays":                {`[true,"x"]`, []string{`true,"x"`}, `[true,"[X REDACTED]"]`},
		"top-level string":             {`"abc"`, []string{`"abc"`}, `"[X REDACTED]"`},
		"a number alone is plain":      {`12345`, []string{"345"}, `12[X REDACTED]`},
		"punctuation alone":            {`["a","b"]`, []string{`","`}, `["a","b"]`},
		"not quite JSON is plain":      {`{"k":"secret"`, []string{`"secret`}, `{"k":[X REDACTED]"`},
		"rune stays whole":             {"caf\u00e9!", []string{"\xa9"}, "caf[X REDACTED]!"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []gatehouse.Finding
			for _, part := range c.parts {
				all = append(all, in(c.text, part))
			}
			if got := gatehouse.Splice(c.text, redact.Edits(c.text, all, redact.Token)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestEditsEscapeReplacement(t *testing.T) {
	text := `{"k":"secret"}`
	quote := func(gatehouse.Finding) string { return "a \"b\"\n" }
	got := gatehouse.Splice(text, redact.Edits(text, []gatehouse.Finding{in(text, "secret")}, quote))
	if want := `{"k":"a \"b\"\n"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEditsWorstWins(t *testing.T) {
	text := "abcdef"
	mild, bad := in(text, "bcd"), in(text, "cde")
	mild.Score = 0.9
	bad.Type, bad.Severity, bad.Part = "bad", gatehouse.Critical, 7
	got := redact.Edits(text, []gatehouse.Finding{mild, bad}, redact.Token)
	want := gatehouse.Edit{Part: 7, Op: gatehouse.Replace, Start: 1, End: 5, Text: "[BAD REDACTED]"}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEditsOutsideText(t *testing.T) {
	for _, text := range []string{"abc", `["abc"]`} {
		for _, span := range [][2]int{{-5, 0}, {50, 60}, {2, 2}, {3, 1}} {
			if got := redact.Edits(text, []gatehouse.Finding{{Start: span[0], End: span[1]}}, redact.Token); len(got) > 0 {
				t.Errorf("%s %v: %+v", text, span, got)
			}
		}
		if got := redact.Edits(text, []gatehouse.Finding{{Start: -9, End: 99}}, redact.Token); len(got) != 1 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestToken(t *testing.T) {
	for _, c := range []struct{ kind, typ, want string }{
		{"secret", "aws-access-token", "[AWS ACCESS TOKEN REDACTED]"},
		{"pii", "card", "[CARD REDACTED]"},
		{"pii", "ssn", "[SSN REDACTED]"},
		{"pii", "iban", "[IBAN REDACTED]"},
		{"pii", "email", "[EMAIL REDACTED]"},
		{"pii", "phone", "[PHONE REDACTED]"},
		{"pii", "ip", "[IP REDACTED]"},
		{"pii", "address", "[ADDRESS REDACTED]"},
		{"canary", "", "[CANARY REDACTED]"},
		{"injection", "role_hijack", "[INJECTION REDACTED]"},
		{"dlp", "Projekt \"Ü\"", "[PROJEKT REDACTED]"},
	} {
		if got := redact.Token(gatehouse.Finding{Kind: c.kind, Type: c.typ}); got != c.want {
			t.Errorf("%s/%s: got %s, want %s", c.kind, c.typ, got, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		text, part string
		want       bool
	}{
		{"  payload!! \n", "payload", true},
		{"payload and more", "payload", false},
		{`"payload"`, "payload", true},
		{`{"k":"payload"}`, "payload", false},
	} {
		edits := redact.Edits(c.text, []gatehouse.Finding{in(c.text, c.part)}, redact.Token)
		if got := redact.Whole(c.text, edits); got != c.want {
			t.Errorf("%q: got %v", c.text, got)
		}
	}
	if redact.Whole("...", nil) {
		t.Error("a text without edits has no payload")
	}
}

// TestEditsAreLinear: a string of escapes has no place but its start where one surely begins.
func TestEditsAreLinear(t *testing.T) {
	const size, every = 4 << 20, 4 << 10
	for name, unit := range map[string]string{"escapes": `\u0031`, "pairs": `\\`, "plain": "219-09-9998 "} {
		text := `{"k":"` + strings.Repeat(unit, size/len(unit)) + `"}`
		var all []gatehouse.Finding
		for at := every; at < size; at += every {
			all = append(all, gatehouse.Finding{Start: at, End: at + 12})
		}
		began := time.Now()
		edits := redact.Edits(text, all, redact.Token)
		gatehouse.Splice(text, edits)
		if took := time.Since(began); took > 5*time.Second || len(edits) != len(all) {
			t.Errorf("%s: %d edits for %d findings in %v", name, len(edits), len(all), took)
		}
	}
}

// FuzzEdits: JSON stays JSON of the same shape, and of a span no rune or escape inside of a value survives.
func FuzzEdits(f *testing.F) {
	f.Add(`{"a":"x\"\u00e9\ud83d\ude00y","b":[1,-2.5e3,"z"],"c":{"d":null}}`, 3, 17, 9, 40)
	f.Add(`"only text"`, 0, 5, 3, 11)
	f.Add("plain \u00e9 text", 6, 7, 0, 2)
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int) {
		all := []gatehouse.Finding{{Start: a, End: b}, {Start: c, End: d, Score: 1}}
		const mark = "\U0001F6AB"
		edits := redact.Edits(text, all, func(gatehouse.Finding) string { return mark })
		for i, e := range edits {
			if e.Start >= e.End || e.Start < 0 || e.End > len(text) || i > 0 && e.Start < edits[i-1].End {
				t.Fatalf("edit %d does not fit: %+v", i, e)
			}
		}
		root, err := rawjson.Parse([]byte(text), 512)
		if err != nil || root.Kind < rawjson.String {
			return
		}
		out := gatehouse.Splice(text, edits)
		after, err := rawjson.Parse([]byte(out), 512)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		same(t, root, after)
		for _, f := range all {
			gone(t, text, root, f, edits)
		}
	})
}

func same(t *testing.T, a, b rawjson.Value) {
	t.Helper()
	if a.Kind != b.Kind || len(a.Members) != len(b.Members) || len(a.Elems) != len(b.Elems) {
		t.Fatalf("shape changed: %v, %v", a.Kind, b.Kind)
	}
	for i := range a.Members {
		same(t, a.Members[i].Value, b.Members[i].Value)
	}
	for i := range a.Elems {
		same(t, a.Elems[i], b.Elems[i])
	}
}

// gone checks that every byte of the span that stands inside of a string value is covered by an edit.
func gone(t *testing.T, text string, v rawjson.Value, f gatehouse.Finding, edits []gatehouse.Edit) {
	t.Helper()
	if v.Kind == rawjson.String {
		for i := max(f.Start, v.Start+1); i < min(f.End, v.End-1); i++ {
			covered := false
			for _, e := range edits {
				covered = covered || e.Start <= i && i < e.End
			}
			if !covered {
				t.Fatalf("byte %d of %q survives", i, text)
			}
		}
	}
	for _, m := range v.Members {
		gone(t, text, m.Value, f, edits)
	}
	for _, e := range v.Elems {
		gone(t, text, e, f, edits)
	}
}
