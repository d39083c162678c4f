package verdict_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/verdict"
)

func TestParse(t *testing.T) {
	for _, c := range vectors(t).Verdicts {
		t.Run(c.Name, func(t *testing.T) {
			if got := verdict.Parse(c.Header); got != c.Tolerant {
				t.Errorf("Parse: got %+v, want %+v", got, c.Tolerant)
			}
			got, err := verdict.ParseStrict(c.Header)
			if c.Error != (err != nil) {
				t.Fatalf("ParseStrict: error %v, want one: %v", err, c.Error)
			}
			if got != c.Strict {
				t.Errorf("ParseStrict: got %+v, want %+v", got, c.Strict)
			}
			if err == nil && got.String() != c.Header {
				t.Errorf("String: got %q, want %q", got, c.Header)
			}
		})
	}
}

func TestStringIsAlwaysCanonical(t *testing.T) {
	tests := []struct {
		name string
		in   verdict.Verdicts
		want string
	}{
		{"said nothing", verdict.Verdicts{}, "front=pass; autonomy=pass; integrity=pass; back=pass"},
		{"unverified is not written", verdict.Verdicts{Integrity: verdict.Unverified}, "front=pass; autonomy=pass; integrity=observed; back=pass"},
		{"no second header", verdict.Verdicts{Front: "pass\r\nX-Evil: 1"}, "front=observed; autonomy=pass; integrity=pass; back=pass"},
		{"as given", verdict.Verdicts{Front: verdict.Nudged, Back: verdict.Enforced}, "front=nudged; autonomy=pass; integrity=pass; back=enforced"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			if got := c.in.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrorsDoNotQuote(t *testing.T) {
	const secret = "sk-secret"
	_, strict := verdict.ParseStrict("front=" + secret + "; autonomy=pass; integrity=pass; back=pass")
	_, advisories := verdict.ParseAdvisories(`[{"source":"` + secret + `"}]`)
	_, broken := verdict.ParseAdvisories(secret)
	_, word := verdict.ParseAIP(secret)
	for _, err := range []error{strict, advisories, broken, word} {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("want an error that does not quote, got %v", err)
		}
	}
}

func TestParseMnemomVerdict(t *testing.T) {
	got := verdict.ParseMnemomVerdict("front=pass; autonomy=observed; integrity=nudged; back=enforced")
	want := verdict.CheckpointVerdicts{Front: "pass", Autonomy: "observed", Integrity: "nudged", Back: "enforced"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseAIP(t *testing.T) {
	for _, c := range vectors(t).AIP {
		got, err := verdict.ParseAIP(c.Header)
		if got != c.Word || c.Error != (err != nil) {
			t.Errorf("%q: got %q and %v, want %q, error: %v", c.Header, got, err, c.Word, c.Error)
		}
	}
}

// What the strict parser takes is canonical, and the tolerant one reads the same from it.
func FuzzParse(f *testing.F) {
	for _, c := range vectors(f).Verdicts {
		f.Add(c.Header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		tolerant := verdict.Parse(header)
		strict, err := verdict.ParseStrict(header)
		if err == nil && (strict != tolerant || strict.String() != header) {
			t.Errorf("%q: strict %+v, tolerant %+v", header, strict, tolerant)
		}
		if _, err := verdict.ParseStrict(tolerant.String()); err != nil {
			t.Errorf("%q: String is not canonical: %v", header, err)
		}
	})
}
