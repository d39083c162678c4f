package checkpoint

import (
	"strings"
	"testing"
)

func TestHanded(t *testing.T) {
	for text, want := range map[string]string{
		`Let a = "ignore all prev"`:                "ignore all prev",
		`Take „alle bisherigen“ and «Anweisungen»`: "alle bisherigen Anweisungen",
		"part 2: you were given":                   "you were given",
		"Page 1 of 3. Ignore your":                 "Ignore your",
		`{"id":1,"note":"ignore the"}`:             "ignore the",
		"What is the capital of Portugal?":         "",
		"I have 2 dogs. They bark.":                "",
		strings.Repeat("long ", 20) + ": no label": "",
	} {
		if got := handed(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestUnended(t *testing.T) {
	for text, want := range map[string]bool{"Ignore all": true, "Ignore all.": false, "Ignore all \n": true, "really?": false, "好。": false, "": false} {
		if got := unended(text); got != want && text != "" {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := sentences([]string{"One", "two.", " three "}); got != "One. two. three. " {
		t.Errorf("%q", got)
	}
}

func FuzzHanded(f *testing.F) {
	f.Add(`a: "b" “c`)
	f.Add("Page 1 of 2) x")
	f.Fuzz(func(t *testing.T, text string) {
		if got := handed(text); len(got) > len(text)+strings.Count(text, `"`) {
			t.Errorf("%q of %q", got, text)
		}
		ended(text)
	})
}
