package main

import (
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// answer is the model of the conformance tests. It is [fake.Echo], and besides:
//   - a request with the header X-Fake-Status fails with that status;
//   - a user text of lines "call NAME ARGUMENTS" gets one call for each line.
func answer(r fake.Request) fake.Turn {
	if status, err := strconv.Atoi(r.Header.Get("X-Fake-Status")); err == nil {
		return fake.Turn{Status: status, Error: "the provider says " + strconv.Itoa(status)}
	}
	if calls := called(r.Last()); len(calls) > 0 {
		return fake.Turn{Calls: calls}
	}
	return fake.Echo(r)
}

// called reads the calls that a user's message asks for; none unless every line is one.
func called(m fake.Message) []fake.Call {
	if m.Role != "user" {
		return nil
	}
	var calls []fake.Call
	for line := range strings.Lines(m.Text) {
		order, ok := strings.CutPrefix(strings.TrimSpace(line), "call ")
		name, args, both := strings.Cut(order, " ")
		if !ok || !both {
			return nil
		}
		calls = append(calls, fake.Call{Name: name, Args: args})
	}
	return calls
}
