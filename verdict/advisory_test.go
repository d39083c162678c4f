package verdict_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/verdict"
)

func TestFormatAdvisories(t *testing.T) {
	for _, c := range vectors(t).Advisories {
		t.Run(c.Name, func(t *testing.T) {
			before := slices.Clone(c.Entries)
			if got := verdict.FormatAdvisories(c.Entries); got != c.Header {
				t.Errorf("got  %s\nwant %s", got, c.Header)
			}
			if !slices.Equal(before, c.Entries) {
				t.Error("the caller's slice was reordered")
			}
		})
	}
}

func TestFormatAdvisoriesReplacesInvalidUTF8(t *testing.T) {
	got := verdict.FormatAdvisories([]verdict.Advisory{{Source: "a", Text: "x\xffy"}})
	if want := `[{"source":"a","text":"x\ufffdy"}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseAdvisories(t *testing.T) {
	for _, c := range vectors(t).ParseAdvisories {
		t.Run(c.Name, func(t *testing.T) {
			got, err := verdict.ParseAdvisories(c.Header)
			if c.Error != (err != nil) {
				t.Fatalf("error %v, want one: %v", err, c.Error)
			}
			if !slices.Equal(got, c.Entries) {
				t.Errorf("got %+v, want %+v", got, c.Entries)
			}
		})
	}
}

// A header is within its limits, printable, and reads back; what it shortens it shortens honestly.
func FuzzFormatAdvisories(f *testing.F) {
	f.Add("safe_house.dlp", "DLP-protected content", "warn", "id-1", 1)
	f.Add("ä", strings.Repeat("🔒", 400), "critical", strings.Repeat("i", 129), 7)
	f.Add("\x00\"\\", "\xff\r\n\u2028", "fatal", "\x7f", 5)
	f.Fuzz(func(t *testing.T, source, text, severity, id string, n int) {
		list := make([]verdict.Advisory, n&7)
		for i := range list {
			list[i] = verdict.Advisory{Source: source, Text: text[min(i, len(text)):], Severity: verdict.Severity(severity), ID: id}
		}
		header := verdict.FormatAdvisories(list)
		if (header == "") != (len(list) == 0) {
			t.Fatalf("%d advisories gave %q", len(list), header)
		}
		if len(header) > verdict.MaxAdvisoryHeader {
			t.Fatalf("%d bytes", len(header))
		}
		if i := strings.IndexFunc(header, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Fatalf("byte %d is not printable ASCII: %q", i, header)
		}
		if header != "" && !json.Valid([]byte(header)) {
			t.Fatalf("not JSON: %s", header)
		}
		got, err := verdict.ParseAdvisories(header)
		if err != nil || len(got) != min(len(list), verdict.MaxAdvisories) {
			t.Fatalf("%d of %d read back: %v", len(got), len(list), err)
		}
		for i, a := range got {
			whole := string([]rune(list[i].Text)) // with U+FFFD for every invalid byte
			kept, cut := strings.CutSuffix(a.Text, "...")
			if a.Text != whole && !(cut && strings.HasPrefix(whole, kept)) {
				t.Fatalf("text %d: %q became %q", i, list[i].Text, a.Text)
			}
		}
	})
}
