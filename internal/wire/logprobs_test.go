package wire_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestLogprobsTellTheirTextOnly(t *testing.T) {
	const hello = `{"token":"Hel","logprob":-0.1,"bytes":[72,101,108]},{"token":"lo","logprob":-0.2,"bytes":null}`
	for _, c := range []struct {
		name, list      string
		spelled, others bool
	}{
		{"none", `[]`, true, false},
		{"null", `null`, true, false},
		{"its tokens", `[` + hello + `]`, true, false},
		{"the first of them", `[{"token":"Hel"}]`, true, false},
		{"the last of them", `[{"token":"lo"}]`, true, false},
		{"not one behind the other", `[{"token":"H"},{"token":"lo"}]`, false, false},
		{"a token more", `[` + hello + `,{"token":"<|bye|>"}]`, false, false},
		{"the end", `[` + hello + `,{"token":"<|im_end|>"}]`, true, false},
		{"a piece of a character", `[{"token":"","bytes":[240,159]}]`, true, false},
		{"a piece that is not told", `[{"token":"\ufffd"}]`, true, false},
		{"pieces in what stands there", `[{"token":"Hel"},{"token":"\ufffd"},{"token":"lo"}]`, true, false},
		{"letters among the bytes of a piece", `[{"token":"","bytes":[240,65,66]}]`, false, false},
		{"another letter for bytes of a piece", `[{"token":"G","bytes":[240,159]}]`, false, false},
		{"another text", `[{"token":"Good"}]`, false, false},
		{"bytes of another text", `[{"token":"Hel","bytes":[71,111,111]}]`, false, false},
		{"no bytes", `[{"token":"Hel","bytes":[72,1010,108]}]`, false, false},
		{"itself beside it", `[{"token":"Hel","top_logprobs":[{"token":"Hel"}]}]`, true, false},
		{"another beside it", `[{"token":"Hel","top_logprobs":[{"token":"Hel"},{"token":"Goo"}]}]`, true, true},
		{"other bytes beside it", `[{"token":"Hel","bytes":[72,101,108],"top_logprobs":[{"token":"Hel","bytes":[71]}]}]`, true, true},
		{"others as an object", `[{"token":"Hel","top_logprobs":{"token":"Goo"}}]`, true, true},
		{"an object", `{"token":"Good"}`, false, false},
		{"lists in a list", `[[{"token":"Good"}]]`, false, false},
		{"a token that is an object", `[{"token":{"a":"Good"}}]`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spelled, others := logprobs(t, c.list, "Hello")
			if spelled != c.spelled || others != c.others {
				t.Errorf("spelled %v, others %v", spelled, others)
			}
		})
	}
}

func TestLogprobsOfPiecesOfCharacters(t *testing.T) {
	const list = `[{"token":" \\xf0\\x9f","bytes":[32,240,159]},{"token":"\\x98\\x80","bytes":[152,128]}]`
	if spelled, _ := logprobs(t, list, " \U0001F600"); !spelled {
		t.Error("the pieces of a character are not its own")
	}
	if spelled, _ := logprobs(t, list, " \U0001F601"); spelled {
		t.Error("the pieces of another character")
	}
}

func logprobs(t *testing.T, list, text string) (spelled, others bool) {
	t.Helper()
	v, err := rawjson.Parse([]byte(list), wire.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Logprobs(v, []byte(list), text)
}
