package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

const exchange = "01234567-89ab-4def-8123-456789abcdef"

// reread reads what the codec has written itself.
func reread(t *testing.T, stream bool, out []byte, kind string) []gatehouse.Part {
	t.Helper()
	if want := "application/json"; !stream && kind != want || stream && kind != "text/event-stream" {
		t.Errorf("content type %s", kind)
	}
	if !stream {
		_, parts := parse(t, string(out))
		return parts
	}
	var made recorder
	s, err := play(&made, string(out))
	if err != nil || !s.Done() {
		t.Fatalf("%v, done %v", err, s.Done())
	}
	return made.parts
}

func ask(t *testing.T, stream bool, more string) wire.Request {
	t.Helper()
	r, err := Codec{}.Request([]byte(`{"model":"m","stream":` + map[bool]string{true: "true", false: "false"}[stream] + `,"input":"a"` + more + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestStopped(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for more, kind := range map[string]string{"": "output_text", `,"text":{"format":{"type":"json_schema"}}`: "refusal"} {
			out, contentType := Codec{}.Stopped(ask(t, stream, more+`,"previous_response_id":"resp_1"`), wire.Notice{RequestID: exchange, Text: "stopped"})
			if got := shown(reread(t, stream, out, contentType)); got != `assistant text output[0].content[0] "stopped"` {
				t.Errorf("got %s", got)
			}
			for _, want := range []string{`"type":"` + kind + `"`, `"id":"` + ownID(exchange, "resp_1") + `"`, `"reason":"content_filter"`, `"previous_response_id":"resp_1"`} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %s in %s", want, out)
				}
			}
		}
	}
}

func TestReleased(t *testing.T) {
	tools := `,"tools":[{"type":"shell"},{"type":"apply_patch"},{"type":"computer_use_preview"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}]`
	cases := []struct {
		call wire.Call
		want string
	}{
		{wire.Call{Tool: "f", ID: "c", Arguments: `{"a":1.50}`}, `assistant tool_call output[0].arguments "{\"a\":1.50}" tool=f id=c`},
		{wire.Call{Tool: "n.f", ID: "c", Arguments: `{}`}, `assistant tool_call output[0].arguments "{}" tool=n.f id=c`},
		{wire.Call{Tool: "f", Arguments: `x`, Freeform: true}, `assistant tool_call output[0].input "x" tool=f id=call_` + exchange + `-0 media=freeform`},
		{wire.Call{Tool: "mcp:s/t", ID: "q", Arguments: `{}`}, `assistant tool_call output[0].arguments "{}" tool=mcp:s/t id=q media=mcp_approval_request`},
		{wire.Call{Tool: "shell", ID: "c", Arguments: `{"commands":["ls"]}`}, `assistant tool_call output[0].action "{\"commands\":[\"ls\"]}" tool=shell id=c media=shell_call`},
		{wire.Call{Tool: "apply_patch", ID: "c", Arguments: `{"diff":"d"}`}, `assistant tool_call output[0].operation "{\"diff\":\"d\"}" tool=apply_patch id=c media=apply_patch_call`},
		{wire.Call{Tool: "computer", ID: "c", Arguments: `{"actions":[1]}`}, `assistant tool_call output[0].action "{\"actions\":[1]}" tool=computer id=c media=computer_call`},
	}
	for _, c := range cases {
		for _, stream := range []bool{false, true} {
			out, kind, err := Codec{}.Released(ask(t, stream, tools), []wire.Call{c.call}, exchange)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(reread(t, stream, out, kind)); got != c.want {
				t.Errorf("stream %v: got %s, want %s", stream, got, c.want)
			}
		}
	}
	for _, c := range []wire.Call{{Tool: "hosted:web_search"}, {Tool: "shell", Arguments: "{"}} {
		if out, _, err := (Codec{}).Released(ask(t, false, tools), []wire.Call{c}, exchange); err == nil {
			t.Errorf("%s: %s", c.Tool, out)
		}
	}
	if _, _, err := (Codec{}).Released(ask(t, false, ""), nil, exchange); err == nil {
		t.Error("nothing was released")
	}
}

func TestReleasedCallsEndTheirResponse(t *testing.T) {
	out, _, err := Codec{}.Released(ask(t, false, ""), []wire.Call{{Tool: "f", ID: "a"}, {Tool: "g", ID: "b"}}, exchange)
	var r struct {
		Status string
		Output []struct {
			Name string
			ID   string
		}
	}
	if err != nil || json.Unmarshal(out, &r) != nil || r.Status != "completed" || len(r.Output) != 2 || r.Output[0].ID == r.Output[1].ID {
		t.Errorf("%v: %s", err, out)
	}
}
