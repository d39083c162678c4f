package detect

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// sifted is what a sieve finds in a text that comes in pieces. It checks what every sieve promises on the way.
func sifted(t *testing.T, s *Set, eager bool, pieces ...string) (all []gatehouse.Finding) {
	t.Helper()
	decided, size := 0, 0
	v := s.Sieve(eager, func(list []gatehouse.Finding) {
		for _, f := range list {
			if f.Start < decided {
				t.Errorf("%s is found at byte %d, when %d bytes were decided", f.Detector, f.Start, decided)
			}
		}
		all = append(all, list...)
	})
	for _, p := range pieces {
		v.Write(t.Context(), p)
		if size += len(p); v.Decided() < decided || v.Decided() > size {
			t.Fatalf("%d of %d bytes are decided, %d were before", v.Decided(), size, decided)
		}
		decided = v.Decided()
	}
	if !v.Close(t.Context()) || v.Decided() != size {
		t.Errorf("at the end %d of %d bytes are decided", v.Decided(), size)
	}
	return all
}

// pieces cuts a text at random places, in the middle of characters, too.
func chopped(r *rand.Rand, text string, most int) (out []string) {
	for text != "" {
		n := min(len(text), 1+r.IntN(most))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// private is the secrets and personal data among what a scan of all of a text finds.
func private(t *testing.T, s *Set, text string) (all []gatehouse.Finding) {
	t.Helper()
	for _, f := range s.Scan(t.Context(), Text{Channel: Output, Text: text}).Findings {
		if f.Kind == "secret" || f.Kind == "pii" {
			all = append(all, f)
		}
	}
	return all
}

// covers reports whether every byte of a finding is in one of the others.
func covers(list []gatehouse.Finding, f gatehouse.Finding) bool {
	for i := f.Start; i < f.End; i++ {
		if !slices.ContainsFunc(list, func(g gatehouse.Finding) bool { return g.Start <= i && i < g.End }) {
			return false
		}
	}
	return true
}

// secretive are texts that hold something, as models write it.
func secretive() []string {
	key, pat := "AK"+"IA"+random(upper, 16), "gh"+"p_"+random(alnum, 36)
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(random(alnum, 64)+"\n", 50) + "-----END RSA " + "PRIVATE KEY-----"
	texts := []string{
		pat, "Here it is: " + pat + ", keep it.", "export TOKEN=" + pat + "\n", "`" + key + "`", "key " + key + " and " + pat + ".",
		"The card is 4111 1111 1111 1111 and it is valid.", "4111-1111-1111-1111", "Card: 5500005555555559.", "pay with 3782 822463 10005 today",
		"SSN 536-90-4399 is yours.", "My social security number is 536 90 4399.", "IBAN DE89 3704 0044 0532 0130 00, please.",
		"Write to jane.doe@example.org or call +49 30 901820 now.", "host 203.0.113.77 and 2001:db8:0:85a3::ac1f:8001 answered",
		"Here:\n" + pem + "\nkeep it safe", `{"key": "` + pat + `", "n": 1}`, `{"pem": "` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`,
		"password: " + random(alnum, 28) + "7\nport: 5432", "db:\n  password: \"" + random(alnum, 28) + "7\"\n", "密码是" + pat + "，请保密。",
		"It says " + base64.StdEncoding.EncodeToString([]byte("the key is "+pat+" now")) + " in base64.", "%41%4B%49%41" + key[4:] + "%20is",
		"```go\nconst token = \"" + pat + "\"\n```", "| key | " + pat + " |", "<p>token: <b>" + pat + "</b></p>", "https://x.example/?token=" + pat + "&a=1",
		"curl -H \"Authorization: Bearer " + random(alnum, 40) + "\" https://api.example.com", "curl -u admin:" + random(alnum, 20) + " https://x.example",
		strings.Repeat("Nothing to see here, move along. ", 40) + pat + strings.Repeat(" Nothing more, either.", 40),
		strings.Repeat("x = f(a1, b2)\n", 100) + "y = \"" + pat + "\"\n" + strings.Repeat("x = f(a1, b2)\n", 100),
	}
	return texts
}

func TestSieveFindsWhatAScanFinds(t *testing.T) {
	s := set(t, "secrets", "pii")
	for _, text := range secretive() {
		want, got := private(t, s, text), sifted(t, s, false, text)
		if len(want) == 0 {
			t.Errorf("nothing to find in %.60q", text)
		}
		for _, f := range want {
			if !covers(got, f) {
				t.Errorf("%s %d..%d of %.60q is not found: %+v", f.Detector, f.Start, f.End, text, got)
			}
		}
	}
}

// TestSieveDoesNotMindPieces: what is found, and where, does not depend on how the text came.
func TestSieveDoesNotMindPieces(t *testing.T) {
	s := set(t, "secrets", "pii")
	r := rand.New(rand.NewPCG(1, 2))
	texts := secretive()
	for range 30 {
		var b strings.Builder
		for range 4 {
			b.WriteString(texts[r.IntN(len(texts))] + []string{"", " ", "\n", " and ", "7"}[r.IntN(5)])
		}
		texts = append(texts, b.String())
	}
	for _, text := range texts {
		for _, eager := range []bool{false, true} {
			want := fmt.Sprint(sifted(t, s, eager, text))
			for _, most := range []int{1, 7, 40} {
				if got := fmt.Sprint(sifted(t, s, eager, chopped(r, text, most)...)); got != want {
					t.Fatalf("%.80q in pieces of up to %d bytes:\ngot  %s\nwant %s", text, most, got, want)
				}
			}
		}
	}
}

// TestSieveTakesWhatAScanHasFound: a text of which a scan came first is decided as it is without one, and where all of it is looked at
// at once that is not done again.
func TestSieveTakesWhatAScanHasFound(t *testing.T) {
	looked := 0
	s, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	s = s.Inline().Watched(func(detector string, _ time.Duration) {
		if detector == "secrets" {
			looked++
		}
	})
	r := rand.New(rand.NewPCG(3, 4))
	texts := secretive()
	for range 200 {
		texts = append(texts, texts[r.IntN(30)]+[]string{" ", "\n", " and "}[r.IntN(3)]+texts[r.IntN(30)])
	}
	saved := 0
	for _, text := range texts {
		decide := func(write func(*Sieve)) string {
			var all []gatehouse.Finding
			v := s.Sieve(true, func(list []gatehouse.Finding) { all = append(all, list...) })
			if write(v); !v.Close(t.Context()) {
				t.Fatal("not complete")
			}
			return fmt.Sprint(v.Decided(), all)
		}
		looked = 0
		want := decide(func(v *Sieve) { v.Write(t.Context(), text) })
		without := looked
		scanned := s.Scan(t.Context(), Text{Channel: Output, Text: text})
		before := fmt.Sprint(scanned.Findings)
		looked = 0
		if got := decide(func(v *Sieve) { v.WriteWhole(t.Context(), text, scanned) }); got != want {
			t.Errorf("%.80q:\ngot  %s\nwant %s", text, got, want)
		}
		if after := fmt.Sprint(scanned.Findings); after != before {
			t.Errorf("%.80q: the result was changed from %s to %s", text, before, after)
		}
		if looked < without {
			saved++
		}
	}
	if saved < 10 {
		t.Errorf("only of %d texts nothing was looked at again", saved)
	}
}

// TestSieveReadsJSONBehindWhiteSpace: a text that begins with white space in a piece of its own is read as it is in one piece.
func TestSieveReadsJSONBehindWhiteSpace(t *testing.T) {
	s := set(t, "secrets", "pii")
	for _, lead := range []string{"\n", " ", "\r\n\t", strings.Repeat(" ", 2*jsonProbe)} {
		for _, rest := range []string{
			`{"token": "ghp_0123456789abcdefghij\u0041BCDEFGHIJ012345"}`,
			`{"token": "\u0067hp_0123456789abcdefghijABCDEFGHIJ012345", "a": 1}`,
			`{"mail": "bob\u0040example.org", "a": 1}`,
		} {
			whole, pieces := sifted(t, s, false, lead+rest), sifted(t, s, false, lead, rest)
			if len(whole) == 0 || !reflect.DeepEqual(whole, pieces) {
				t.Errorf("%d bytes before %s\nin one piece %v\nin two        %v", len(lead), rest, whole, pieces)
			}
		}
	}
}

// TestSieveLetsPlainTextGo: of plain words no more is held than the one that is not complete.
func TestSieveLetsPlainTextGo(t *testing.T) {
	s := set(t, "secrets", "pii")
	for text, held := range map[string]string{
		"The quick brown fox jumps":                    "jumps",
		"The quick brown fox. ":                        "",
		"1. First, it's a well-known thing; see":       "see",
		"**Note:** this is\n\n- a list\n- with things": "things",
		"Wir gehen über die Straße nach":               "nach",
		"这是一个句子。":                                      "",
		"It costs 12 dollars, they say":                "say",
		"the token is AKIA":                            "AKIA",
		"the card is 4111 1111 111":                    "4111 1111 111",
	} {
		v := s.Sieve(false, func([]gatehouse.Finding) {})
		v.Write(t.Context(), text)
		if got := text[v.Decided():]; got != held {
			t.Errorf("%q: %q is held, want %q", text, got, held)
		}
	}
	v := s.Sieve(true, func([]gatehouse.Finding) {})
	if v.Write(t.Context(), "Hel"); v.Decided() != 3 {
		t.Errorf("of the first letters %d are decided", v.Decided())
	}
	if v = s.Sieve(true, nil); true {
		if v.Write(t.Context(), "gh"); v.Decided() != 0 {
			t.Error("the first letters may begin a secret")
		}
	}
}

// TestSieveHoldsLittle: whatever the text, what is held and what is kept is bounded, and the work is linear.
func TestSieveHoldsLittle(t *testing.T) {
	s := set(t, "secrets", "pii")
	for name, unit := range map[string]string{
		"base64": random(alnum, 76) + "\n", "one token": random(alnum, 64), "digits": "12345 ", "code": "x1 = foo(bar[2], \"a\");\n", "words": "word ", "letters": "a b c ",
	} {
		v := s.Sieve(false, func([]gatehouse.Finding) {})
		for size := 0; size < 256<<10; size += len(unit) {
			v.Write(t.Context(), unit)
			if held := v.end() - v.Decided(); held > heldEver+1024 {
				t.Fatalf("%s: %d bytes are held", name, held)
			}
			if len(v.buf) > 2*heldEver {
				t.Fatalf("%s: %d bytes are kept", name, len(v.buf))
			}
		}
	}
}

func FuzzSieve(f *testing.F) {
	for i, text := range secretive() {
		f.Add(text, uint64(i), true) //nolint:gosec // an index
	}
	f.Add("\n {\"token\": \"ghp_0123456789abcdefghij\\u0041BCDEFGHIJ012345\"}", uint64(1), false)
	s, err := Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, eager bool) {
		if len(text) > 16<<10 {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(seed, 7))
		want := fmt.Sprint(sifted(t, s, eager, text))
		if got := fmt.Sprint(sifted(t, s, eager, chopped(r, text, 1+r.IntN(64))...)); got != want {
			t.Errorf("in pieces:\ngot  %s\nwant %s", got, want)
		}
	})
}
