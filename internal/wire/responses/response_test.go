package responses

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	thought = `{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}`
	said    = `{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","annotations":[{"x":1}],"logprobs":[1],"text":"a"}]}`
	called  = `{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
)

func body(items ...string) string {
	return `{"id":"resp_1","output" : [` + strings.Join(items, ` , `) + `],"temperature":1.50}`
}

func TestResponseEdits(t *testing.T) {
	notice := `{"id":"msg_gatehouse_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"no"}]}`
	drop := func(tool string) func([]gatehouse.Part) {
		return func(parts []gatehouse.Part) {
			for i := range parts {
				if parts[i].Tool == tool {
					parts[i].Removed, parts[i].Notice = true, "no"
				}
			}
		}
	}
	cases := []struct {
		desc, body string
		edit       func([]gatehouse.Part)
		want       string
	}{
		{"a text, with what speaks of it", body(said, called), func(p []gatehouse.Part) { p[0].Text = "b" },
			body(strings.NewReplacer(`[{"x":1}]`, "[]", "[1]", "[]", `"a"`, `"b"`).Replace(said), called)},
		{"a call and the reasoning before it", body(thought, called), drop("f"), `{"id":"resp_1","output" : [` + notice + `],"temperature":1.50}`},
		{"a call; its reasoning stays with another", body(thought, strings.ReplaceAll(called, `"f"`, `"g"`), called), drop("f"),
			`{"id":"resp_1","output" : [` + thought + ` , ` + strings.ReplaceAll(called, `"f"`, `"g"`) + `,` + notice + `],"temperature":1.50}`},
		{"a call in front", body(called, said), drop("f"), `{"id":"resp_1","output" : [` + said + `,` + notice + `],"temperature":1.50}`},
		{"all copies of a server's own", `{"id":"resp_1","output":[` + said + `],"output_text":"a"}`, func(p []gatehouse.Part) { p[0].Text = "b" },
			`{"id":"resp_1","output":[` + strings.NewReplacer(`[{"x":1}]`, "[]", "[1]", "[]", `"a"`, `"b"`).Replace(said) + `],"output_text":"b"}`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			r, parts := parse(t, c.body)
			if got := written(t, r, parts); got != c.body {
				t.Errorf("without edits: %s", got)
			}
			c.edit(parts)
			if got := written(t, r, parts); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestArgumentsAreNeverRewritten(t *testing.T) {
	r, parts := parse(t, body(called))
	parts[0].Text = `{"a":1}`
	if out, err := r.Bytes(parts); err == nil {
		t.Errorf("written: %s", out)
	}
}

func TestResponsesWithoutOutput(t *testing.T) {
	for _, body := range []string{`{"id":"resp_1","status":"queued","output":[]}`, `{"error":{"message":"no"}}`, `{"id":"resp_1","object":"response.deleted","deleted":true}`} {
		r, parts := parse(t, body)
		if got := written(t, r, parts); got != body || len(parts) > 0 {
			t.Errorf("%s: %d parts, %s", body, len(parts), got)
		}
	}
}

func TestItemsAreReadAsHistory(t *testing.T) {
	const list = `{"object":"list","data":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"shell_call","call_id":"d","action":{}}]}`
	var made recorder
	r, err := Items{}.Response([]byte(list), &made)
	if err != nil {
		t.Fatal(err)
	}
	const want = "user text data[0].content[0] \"a\"\nassistant text data[1].arguments \"{}\" tool=f id=c\nassistant opaque data[2].action \"{}\" tool=shell id=d media=shell_call"
	if got := shown(made.parts); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(t, r, made.parts); got != list {
		t.Errorf("without edits: %s", got)
	}
	if _, err := (Items{}).Response([]byte(body(said)), &recorder{}); err != nil {
		t.Errorf("a response in place of a list: %v", err)
	}
	made.parts[0].Text = "b"
	if got := written(t, r, made.parts); got != strings.Replace(list, `"a"`, `"b"`, 1) {
		t.Errorf("edited: %s", got)
	}
}

func TestStoredRequestsHaveNoParts(t *testing.T) {
	for _, body := range []string{"", " ", `{"x":1}`} {
		r, err := Stored{}.Request([]byte(body))
		if err != nil || len(r.Parts()) > 0 {
			t.Errorf("%q: %v", body, err)
		}
	}
	if _, err := (Stored{}).Request([]byte("{")); err == nil {
		t.Error("a body that is no JSON was taken")
	}
}
