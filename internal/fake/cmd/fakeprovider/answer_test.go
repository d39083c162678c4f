package main

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

func TestAnswer(t *testing.T) {
	said := func(role, text string) []fake.Message { return []fake.Message{{Role: role, Text: text}} }
	cases := []struct {
		desc string
		req  fake.Request
		want fake.Turn
	}{
		{"a text is echoed", fake.Request{Messages: said("user", "hi")}, fake.Turn{Text: "You said: hi"}},
		{"a tool result is echoed, whatever it says", fake.Request{Messages: said("tool", "call f {}")}, fake.Turn{Text: "The tool said: call f {}"}},
		{"a line is a call", fake.Request{Messages: said("user", `call f {"a":1}`)}, fake.Turn{Calls: []fake.Call{{Name: "f", Args: `{"a":1}`}}}},
		{"two lines are two calls", fake.Request{Messages: said("user", "call f {}\ncall g {}")}, fake.Turn{Calls: []fake.Call{{Name: "f", Args: "{}"}, {Name: "g", Args: "{}"}}}},
		{"a line that is no call is a text", fake.Request{Messages: said("user", "call f {}\nplease")}, fake.Turn{Text: "You said: call f {}\nplease"}},
		{"a status fails", fake.Request{Header: http.Header{"X-Fake-Status": {"429"}}}, fake.Turn{Status: 429, Error: "the provider says 429"}},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			if got := answer(c.req); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
