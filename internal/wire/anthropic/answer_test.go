package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Codec = Codec{}

func stopped(t *testing.T, stream string) ([]byte, string) {
	t.Helper()
	q, err := Codec{}.Request([]byte(`{"model":"claude","stream":` + stream + `,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	return Codec{}.Stopped(q, wire.Notice{RequestID: "ab-cd", Text: "stopped <here>"})
}

func TestStoppedWhole(t *testing.T) {
	body, contentType := stopped(t, "false")
	want := `{"id":"msg_abcd","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"stopped \u003chere\u003e"}],` +
		`"stop_reason":"refusal","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}`
	if string(body) != want || contentType != "application/json" {
		t.Errorf("got %s %s", contentType, body)
	}
}

func TestStoppedStream(t *testing.T) {
	body, contentType := stopped(t, "true")
	sink := &recorder{}
	s := Codec{}.Stream(sink)
	if err := feed(string(body), s); err != nil || !s.Done() || contentType != "text/event-stream" {
		t.Fatalf("%v, done %v, %s", err, s.Done(), contentType)
	}
	content, stop := accumulate(t, body)
	if len(content) != 1 || content[0]["text"] != "stopped <here>" || stop != "refusal" {
		t.Errorf("got %v %s", content, stop)
	}
}

func TestError(t *testing.T) {
	for status, want := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 422: "invalid_request_error", 429: "rate_limit_error", 500: "api_error",
		503: "api_error", 529: "overloaded_error",
	} {
		var got struct {
			Type  string
			Error struct{ Type, Message, Code string }
		}
		if err := json.Unmarshal(Codec{}.Error(status, "a_code", "why"), &got); err != nil {
			t.Fatal(err)
		}
		if got.Type != "error" || got.Error.Type != want || got.Error.Message != "why" || got.Error.Code != "a_code" {
			t.Errorf("%d: got %+v", status, got)
		}
	}
}
