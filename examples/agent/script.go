package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

// script is a model that does what its author wrote down: first three calls beside each other, then an answer. It prints what it
// reads, so that one sees what a model would have seen.
type script struct{ out io.Writer }

// Answer implements [agent.Model].
func (s script) Answer(_ context.Context, r agent.Request) (agent.Answer, error) {
	last := r.Messages[len(r.Messages)-1]
	fmt.Fprintf(s.out, "the model reads: %s\n", last.Text)
	if last.Role == gatehouse.User {
		return agent.Answer{Model: "script", Text: "I will look, mail and clean up.", Calls: []agent.Call{
			{ID: "call_search", Tool: "search", Arguments: `{"query":"opening hours"}`},
			{ID: "call_mail", Tool: "send_email", Arguments: `{"to":"ann@example.com","body":"Open from 9 to 17."}`},
			{ID: "call_delete", Tool: "delete", Arguments: `{"page":"old"}`},
		}}, nil
	}
	var read []string
	for _, m := range r.Messages {
		if m.Role == gatehouse.Tool {
			read = append(read, m.Tool+": "+m.Text)
		}
	}
	return agent.Answer{Model: "script", Text: "This is what came back.\n" + strings.Join(read, "\n")}, nil
}
