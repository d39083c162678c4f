package anthropic

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// exactly is arguments as no encoder would write them.
const exactly = "{ \"to\" : \"a<b\\u00e9\",\n\"n\":12345678901234567890, \"f\":1.50 }"

func release(t *testing.T, members string, calls ...wire.Call) (body []byte, contentType string, err error) {
	t.Helper()
	q, err := Codec{}.Request([]byte(`{"model":"claude",` + members + `"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	return Codec{}.Released(q, calls, "ab-cd")
}

var releasedCalls = []wire.Call{
	{Tool: "mail", ID: "toolu_1", Arguments: exactly},
	{Tool: "read", Arguments: "{}"},
}

// checkReleased compares the parts that a released turn is read as with the calls.
func checkReleased(t *testing.T, sink *recorder) {
	t.Helper()
	want := []gatehouse.Part{
		{Tool: "mail", CallID: "toolu_1", Text: exactly, Path: "content[0].input"},
		{ID: 1, Tool: "read", CallID: "toolu_abcd1", Text: "{}", Path: "content[1].input"},
	}
	if len(sink.parts) != len(want) {
		t.Fatalf("got %d parts: %v", len(sink.parts), sink.parts)
	}
	for i, p := range want {
		p.Kind, p.Role = gatehouse.ToolCall, gatehouse.Assistant
		if sink.parts[i] != p || !sink.closed[i] {
			t.Errorf("part %d: got %+v, want %+v", i, sink.parts[i], p)
		}
	}
}

func TestReleasedWhole(t *testing.T) {
	body, contentType, err := release(t, ``, releasedCalls...)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"msg_abcd","type":"message","role":"assistant","model":"claude","content":[` +
		`{"type":"tool_use","id":"toolu_1","name":"mail","input":` + exactly + `},` +
		`{"type":"tool_use","id":"toolu_abcd1","name":"read","input":{}}` +
		`],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}`
	if string(body) != want || contentType != "application/json" {
		t.Errorf("got  %s %s\nwant %s", contentType, body, want)
	}
	sink := &recorder{}
	m, err := Codec{}.Response(body, sink)
	if err != nil {
		t.Fatal(err)
	}
	checkReleased(t, sink)
	gone, err := m.Bytes(remove("no", 0, 1)(sink.parts))
	if err != nil || strings.Contains(string(gone), "tool_use") || strings.Count(string(gone), note) != 2 {
		t.Errorf("without its calls: %s, %v", gone, err)
	}
}

func TestReleasedStream(t *testing.T) {
	body, contentType, err := release(t, `"stream":true,`, releasedCalls...)
	if err != nil || contentType != "text/event-stream" {
		t.Fatalf("%s, %v", contentType, err)
	}
	sink := &recorder{}
	s := Codec{}.Stream(sink)
	if err := feed(string(body), s); err != nil || !s.Done() {
		t.Fatalf("%v, done %v", err, s.Done())
	}
	checkReleased(t, sink)
	if content, stop := accumulate(t, body); len(content) != 2 || stop != "tool_use" || content[0]["name"] != "mail" {
		t.Errorf("accumulated to %v, %s", content, stop)
	}
	gone, err := s.Bytes(remove("no", 0, 1)(sink.parts))
	if err != nil || strings.Contains(string(gone), "tool_use") {
		t.Errorf("without its calls: %s, %v", gone, err)
	}
}

// TestReleasedEvents holds the events to those of the API's reference of streamed tool use.
func TestReleasedEvents(t *testing.T) {
	body, _, err := release(t, `"stream":true,`, wire.Call{Tool: "mail", ID: "toolu_1", Arguments: "{\n}"})
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, e := range [][2]string{
		{"message_start", `{"message":{"id":"msg_abcd","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}},"type":"message_start"}`},
		{"content_block_start", `{"content_block":{"type":"tool_use","id":"toolu_1","name":"mail","input":{}},"index":0,"type":"content_block_start"}`},
		{"content_block_delta", `{"delta":{"partial_json":"{\n}","type":"input_json_delta"},"index":0,"type":"content_block_delta"}`},
		{"content_block_stop", `{"index":0,"type":"content_block_stop"}`},
		{"message_delta", `{"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"input_tokens":0,"output_tokens":0}}`},
		{"message_stop", `{"type":"message_stop"}`},
	} {
		want = sse.Append(want, e[0], e[1])
	}
	if string(body) != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", body, want)
	}
}

func TestReleasedRefuses(t *testing.T) {
	for name, calls := range map[string][]wire.Call{
		"no calls":            nil,
		"freeform":            {{Tool: "a", Arguments: "{}", Freeform: true}},
		"no arguments":        {{Tool: "a"}},
		"a list":              {{Tool: "a", Arguments: "[]"}},
		"more than one value": {{Tool: "a", Arguments: `{}},{"type":"text"`}},
		"a key twice":         {{Tool: "a", Arguments: `{"x":1,"x":2}`}},
		"the second":          {{Tool: "a", Arguments: `{}`}, {Tool: "a", Arguments: `1`}},
		"a hosted tool":       {{Tool: "hosted:web_search", Arguments: `{}`}},
		"a server's tool":     {{Tool: "mcp:docs/read", Arguments: `{}`}},
	} {
		for _, asked := range []string{``, `"stream":true,`} {
			if body, _, err := release(t, asked, calls...); err == nil {
				t.Errorf("%s: %s", name, body)
			}
		}
	}
}
