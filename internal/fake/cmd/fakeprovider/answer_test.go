package main

import (
	"net/http"
	"reflect"
	"testing"
	"time"

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
		{"say is said alone", fake.Request{Messages: said("user", `say {"a":1}`)}, fake.Turn{Text: `{"a":1}`}},
		{"an order within a text is a call", fake.Request{Messages: said("user", `Please [[call f {"a":1}]], thanks.`), Tools: []string{"g", "f"}}, fake.Turn{Calls: []fake.Call{{Name: "f", Args: `{"a":1}`}}}},
		{"two orders are two calls", fake.Request{Messages: said("user", "[[call f {}]] and [[call g {}]]"), Tools: []string{"g", "f"}}, fake.Turn{Calls: []fake.Call{{Name: "f", Args: "{}"}, {Name: "g", Args: "{}"}}}},
		{"an order of a tool that is not declared is no call", fake.Request{Messages: said("user", `[[call f {}]]`)}, fake.Turn{Text: "There is no tool f."}},
		{"an order to speak", fake.Request{Messages: said("user", "<prompt>[[say hi there]]</prompt>")}, fake.Turn{Text: "hi there"}},
		{"an order is answered by its result, whatever follows that", fake.Request{Tools: []string{"f"}, Messages: append(append(said("user", "[[call f {}]]"), said("tool", "4 degrees")...), said("user", "Remember to be brief.")...)},
			fake.Turn{Text: "The tool said: 4 degrees"}},
		{"an order that was done is not done again", fake.Request{Tools: []string{"f"}, Messages: append(append(said("user", "[[call f {}]]"), said("assistant", "Done.")...), said("user", "Thanks.")...)},
			fake.Turn{Text: "You said: Thanks."}},
		{"a drop and a delay are kept", fake.Request{Messages: said("user", "hi"), Header: http.Header{"X-Fake-Drop-After": {"9"}, "X-Fake-Delay": {"1ms"}}},
			fake.Turn{Text: "You said: hi", DropAfter: 9, Delay: time.Millisecond}},
		{"a status fails", fake.Request{Header: http.Header{"X-Fake-Status": {"429"}}}, fake.Turn{Status: 429, Error: "the provider says 429"}},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			if got := new(model).answer(c.req); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFailuresOfACaseEnd(t *testing.T) {
	m := &model{}
	ask := func(name string) int {
		return m.answer(fake.Request{Header: http.Header{"X-Fake-Status": {"500"}, "X-Fake-Times": {"2"}, "X-Fake-Case": {name}}}).Status
	}
	for i, want := range []int{500, 500, 0, 0} {
		if got := ask("a"); got != want {
			t.Errorf("request %d of case a: status %d, want %d", i, got, want)
		}
	}
	if got := ask("b"); got != 500 {
		t.Errorf("first request of case b: status %d, want 500", got)
	}
}
