package checkpoint

import "testing"

func TestVocabulary(t *testing.T) {
	v := words("send mail exfiltrate")
	for text, want := range map[string]bool{
		"":                       false,
		"send":                   true,
		"Please SEND it":         true,
		"an e-mail":              true,
		"sender":                 false,
		"resend":                 false,
		"send_it":                false,
		"send.":                  true,
		"ésend":                  false,
		"exfiltrateexfiltrate":   false,
		"(exfiltrate)":           true,
		"nothing of it is there": false,
	} {
		if got := v.in(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
