package wire

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Logprobs says what a list of log probabilities tells, as OpenAI's formats have it: tokens, each with its bytes and with the likeliest
// tokens in its place. spelled: the tokens, one behind the other, stand in the text like that, and tell nothing else. others: other
// tokens stand beside them, which no text has.
func Logprobs(list rawjson.Value, doc []byte, text string) (spelled, others bool) {
	if list.Exists() && list.Kind != rawjson.Array {
		return false, false
	}
	var told strings.Builder
	spelled = true
	for _, t := range list.Elems {
		said, ok := token(t, doc)
		if !ends(said) {
			told.WriteString(said)
		}
		spelled = spelled && ok
		top := t.Get("top_logprobs")
		others = others || top.Exists() && top.Kind != rawjson.Array
		for _, other := range top.Elems {
			others = others || !sameToken(t, other, doc)
		}
	}
	return spelled && stands(told.String(), text), others
}

// stands reports whether what the tokens tell stands in the text. Some characters are several tokens: servers tell such a piece as
// U+FFFD or by its bytes alone, and its text with the last of them.
func stands(told, text string) bool {
	if strings.Contains(text, told) || isPiece(told) {
		return true
	}
	return strings.Contains(text, strings.ReplaceAll(told, "\uFFFD", ""))
}

// isPiece reports whether a text is a piece of one character.
func isPiece(text string) bool {
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			return false
		}
	}
	return len(text) < utf8.UTFMax && !utf8.ValidString(text)
}

// ends reports whether a token is one by which models end, which is in no text.
func ends(token string) bool {
	switch token {
	case "</s>", "<eos>", "<end_of_turn>", "<|im_end|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|return|>", "<|call|>":
		return true
	}
	return false
}

// token is what a token says. Not ok is one that does not say the same in letters and in bytes.
func token(t rawjson.Value, doc []byte) (said string, ok bool) {
	letters := t.Get("token")
	if t.Kind != rawjson.Object || letters.Exists() && letters.Kind != rawjson.String {
		return "", false
	}
	said = letters.Text(doc)
	if octets := t.Get("bytes").Elems; len(octets) > 0 {
		raw := make([]byte, len(octets))
		for i, v := range octets {
			n, ok := v.Int(doc)
			if !ok || n < 0 || n > 0xff {
				return said, false
			}
			raw[i] = byte(n)
		}
		piece := strings.Trim(said, "\uFFFD") == "" && isPiece(string(raw))
		return string(raw), piece || printed(raw) == said
	}
	return said, true
}

// printed is how the bytes of a token are written, which may be a piece of a character: those that are no UTF-8 as \xNN.
func printed(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, raw[0])
		} else {
			b.Write(raw[:n])
		}
		raw = raw[n:]
	}
	return b.String()
}

func sameToken(t, other rawjson.Value, doc []byte) bool {
	for _, name := range [...]string{"token", "bytes"} {
		if said := other.Get(name); said.Exists() && !bytes.Equal(said.Raw(doc), t.Get(name).Raw(doc)) {
			return false
		}
	}
	return other.Kind == rawjson.Object
}
