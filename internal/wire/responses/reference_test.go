package responses

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// TestReferences: what the provider keeps it is asked for by name, and what the gateway has written it is told.
func TestReferences(t *testing.T) {
	const (
		exchange = "01234567-89ab-4def-8123-456789abcdef"
		user     = `{"role":"user","content":"u"}`
		told     = `{"content":"` + noticeOwn + `","role":"assistant"}`
	)
	names := func(id string) string { return `{"type":"item_reference","id":"` + id + `","text":"t"}` }
	for _, c := range []struct{ desc, input, sent, parts, mentions string }{
		{"none", user, user, `user text input[0].content "u" latest`, ""},
		{"a message of the provider's", names("msg_1") + "," + user, names("msg_1") + "," + user, `assistant opaque input[0] "" media=item_reference
assistant text input[0].text "t"
user text input[1].content "u" latest`, "msg_1"},
		{"a notice in an answer", names(ownMessage("resp_1")) + "," + user, told + "," + user, `user text input[1].content "u" latest`, "resp_1 1"},
		{"an answer that was stopped", names(ownMessage(exchange)) + "," + user, told + "," + user, `user text input[1].content "u" latest`,
			"resp_" + exchange + " " + exchange},
		{"the last one counts", names(ownMessage("resp_1")) + "," + names("msg_2") + "," + user, told + "," + names("msg_2") + "," + user,
			`assistant opaque input[1] "" media=item_reference
assistant text input[1].text "t"
user text input[2].content "u" latest`, "msg_2"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(`{"input":[` + c.input + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(r.Parts()); got != c.parts {
				t.Errorf("got\n%s\nwant\n%s", got, c.parts)
			}
			if got, want := written(t, r, r.Parts()), `{"input":[`+c.sent+`]}`; got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
			if got := strings.Join(r.(*request).Mentions(), " "); got != c.mentions {
				t.Errorf("mentions %s, want %s", got, c.mentions)
			}
			supplied := gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, CallID: "c", Text: "no", Inserted: true}
			want := `{"input":[{"call_id":"c","output":"no","type":"function_call_output"},` + c.sent + `]}`
			if got := written(t, r, append(r.Parts(), supplied)); got != want {
				t.Errorf("with a result: sent %s, want %s", got, want)
			}
		})
	}
}
