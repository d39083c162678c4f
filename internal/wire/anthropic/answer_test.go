package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Codec = Codec{}

func stopped(t *testing.T, members string) ([]byte, string) {
	t.Helper()
	q, err := Codec{}.Request([]byte(`{"model":"claude",` + members + `"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	return Codec{}.Stopped(q, wire.Notice{RequestID: "ab-cd", Text: "stopped <here>"})
}

const (
	stoppedText = `{"type":"text","text":"stopped \u003chere\u003e"}`
	stoppedWhy  = `{"type":"refusal","category":null,"explanation":"stopped \u003chere\u003e"}`
)

var stoppedCases = []struct {
	name, asked string
	structured  bool
}{
	{"text", ``, false},
	{"no format", `"output_config":{"effort":"low"},`, false},
	{"format null", `"output_config":{"format":null},"output_format":null,`, false},
	{"config no object", `"output_config":"format",`, false},
	{"structured", `"output_config":{"format":{"type":"json_schema","schema":{}}},`, true},
	{"structured in the beta", `"output_format":{"type":"json_schema","schema":{}},`, true},
}

func TestStoppedWhole(t *testing.T) {
	for _, c := range stoppedCases {
		t.Run(c.name, func(t *testing.T) {
			body, contentType := stopped(t, c.asked)
			content, details := "["+stoppedText+"]", ""
			if c.structured {
				content, details = "[]", `"stop_details":`+stoppedWhy+`,`
			}
			want := `{"id":"msg_abcd","type":"message","role":"assistant","model":"claude","content":` + content +
				`,"stop_reason":"refusal","stop_sequence":null,` + details + `"usage":{"input_tokens":0,"output_tokens":0}}`
			if string(body) != want || contentType != "application/json" {
				t.Errorf("got  %s %s\nwant %s", contentType, body, want)
			}
		})
	}
}

func TestStoppedStream(t *testing.T) {
	for _, c := range stoppedCases {
		t.Run(c.name, func(t *testing.T) {
			body, contentType := stopped(t, c.asked+`"stream":true,`)
			s := Codec{}.Stream(&recorder{})
			if err := feed(string(body), s); err != nil || !s.Done() || contentType != "text/event-stream" {
				t.Fatalf("%v, done %v, %s", err, s.Done(), contentType)
			}
			content, stop := accumulate(t, body)
			texts := 0
			for _, block := range content {
				if texts++; block["text"] != "stopped <here>" {
					t.Errorf("block %v", block)
				}
			}
			if (texts == 1) == c.structured || stop != "refusal" {
				t.Errorf("%d texts, stop %s", texts, stop)
			}
			if got := strings.Contains(string(body), `"delta":{"stop_details":`+stoppedWhy+`,"stop_reason":"refusal"`); got != c.structured {
				t.Errorf("details %v: %s", got, body)
			}
		})
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
