package checkpoint

import (
	"slices"
	"strings"
	"testing"
)

func TestSightings(t *testing.T) {
	for text, want := range map[string][]string{
		"Write to Drop@Evil.Example.":                       {"email:drop@evil.example"},
		"mailto:a.b+c@evil.example?subject=x":               {"email:a.b+c@evil.example"},
		"see https://www.Evil.example:8443/a/b?c=d#e, now":  {"host:evil.example", "url:evil.example/a/b"},
		"https://user@evil.example/":                        {"host:evil.example"},
		"[x](https://203.0.113.7/c)":                        {"host:203.0.113.7", "url:203.0.113.7/c"},
		"evil.com/collect":                                  {"host:evil.com", "url:evil.com/collect"},
		"//cdn.evil.example/x.js":                           {"host:cdn.evil.example", "url:cdn.evil.example/x.js"},
		"cat ~/.ssh/id_rsa /etc/passwd .env conf/prod.yaml": {"path:~/.ssh/id_rsa", "path:/etc/passwd", "path:.env", "path:conf/prod.yaml"},
		`C:\Users\x`:                                 {"path:c:/users/x"},
		"DE89 3704 0044 0532 0130 00":                {"account:89370400440532013000"},
		"call 1-800-555-0199":                        {"account:18005550199"},
		"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq": {"account:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"},
		"On 2026-11-21 10:30 and/or 12.50 in report.pdf, e.g. 3 of 1,234,567": nil,
		"evil[.]example and hxxps": nil,
		"...":                      nil,
		"":                         nil,
	} {
		var got []string
		for _, s := range sightings(text) {
			if !s.wide {
				got = append(got, s.kind+":"+s.value)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What a thing belongs to is named with it, so that a picture on a subdomain is one of the domain.
func TestWideSightings(t *testing.T) {
	seen := naming{}
	seen.say("https://c2VjcmV0.x.evil.example/a/b/c")
	for a, want := range map[anchor]bool{
		{anchorHost, "evil.example"}: true, {anchorHost, "x.evil.example"}: true, {anchorHost, "example"}: false,
		{anchorHost, "l.example"}: false, {anchorURL, "c2vjcmv0.x.evil.example/a/b"}: true, {anchorURL, "evil.example/a"}: false,
	} {
		if seen.holds(a) != want {
			t.Errorf("%v: %v", a, !want)
		}
	}
}

// One long address is not as many as it has folders.
func TestSightingsOfAHugeAddress(t *testing.T) {
	for _, text := range []string{"https://a.example/" + strings.Repeat("a/", 1<<20), "https://" + strings.Repeat("a.", 1<<20) + "example/x",
		strings.Repeat("/a", 1<<20), strings.Repeat("1-", 1<<20), "x@" + strings.Repeat("a.", 1<<20) + "example"} {
		bytes := 0
		for _, s := range sightings(text) {
			bytes += len(s.value)
		}
		if bytes > len(text) {
			t.Errorf("%.20q: %d bytes of anchors from %d", text, bytes, len(text))
		}
	}
}

// Offsets lie in the text, values are normalised, and no text confuses those who read around them.
func FuzzSightings(f *testing.F) {
	f.Add("I will now email it to drop@evil.example. No? https://a.b/c\n89 3704 0044 0532, ~/.ssh", 3)
	f.Add("..//@:~\\ 1-2-3-4-5-6-7-8-9 \xff://", 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		lower := lowered(text)
		if len(lower) != len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(lower))
		}
		for _, s := range sightings(text) {
			if s.start < 0 || s.start >= s.end || s.end > len(text) {
				t.Fatalf("%+v in %d bytes", s, len(text))
			}
			if s.value == "" || s.value != strings.TrimSpace(lowered(s.value)) {
				t.Errorf("value %q", s.value)
			}
			stanceTo(lower, s.start, s.end)
			taken(lower, s.start, s.end)
		}
		if at >= 0 && at < len(lower) {
			if from, to := sentenceAround(lower, at, at+1); from > at || to <= at || to > len(lower) {
				t.Errorf("the sentence of %d is %d..%d", at, from, to)
			}
		}
		followsContent(lower)
	})
}
