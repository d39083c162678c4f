package session_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// TestCallsWhoseIDsAreDropped: clients need not send the ids of calls back where the format makes nothing of them.
func TestCallsWhoseIDsAreDropped(t *testing.T) {
	r, db := resolver(t)
	part := func(kind gatehouse.Kind, role gatehouse.Role, text string) gatehouse.Part {
		return gatehouse.Part{Kind: kind, Role: role, Text: text}
	}
	call := func(tool, id string) gatehouse.Part {
		return gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: tool, CallID: id, Text: "{}"}
	}
	asked, result := part(gatehouse.Text, gatehouse.User, "Read it"), part(gatehouse.ToolResult, gatehouse.Tool, "a page")
	result.Latest = true
	first := &gatehouse.Exchange{Agent: "mnm-1", Session: "s", Request: []gatehouse.Part{asked}, Response: []gatehouse.Part{call("fetch", "c1")}}
	now := time.Now()
	update := &session.Update{Session: "s", Time: now, Transcripts: r.Transcripts(first), Agent: session.Agent{ID: "mnm-1", Hash: "h", Created: now, LastSeen: now}}
	if err := db.Append(t.Context(), audit.Record{ID: "1", Time: now}, update, true); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		desc  string
		call  gatehouse.Part
		found bool
	}{
		{"the id is kept", call("fetch", "c1"), true},
		{"the id is dropped", call("fetch", ""), true},
		{"another id", call("fetch", "c2"), false},
		{"another tool", call("send", ""), false},
	} {
		t.Run(c.desc, func(t *testing.T) {
			next := &gatehouse.Exchange{Agent: "mnm-1", Request: []gatehouse.Part{asked, c.call, result}, Response: []gatehouse.Part{call("fetch", "c3")}}
			id, fresh, err := r.Session(t.Context(), next, "")
			if err != nil || fresh == c.found || c.found && id != "s" {
				t.Errorf("session %s, fresh %v, %v", id, fresh, err)
			}
			after := *next
			after.Memo = nil
			if with, without := r.Transcripts(next), r.Transcripts(&after); !slices.Equal(with, without) {
				t.Error("the transcript depends on what was worked out before")
			}
			want := 1
			if c.call.CallID == "" {
				want = 2 // it may be a client that drops them
			}
			if got := len(r.Transcripts(next)); got != want {
				t.Errorf("%d transcripts, want %d", got, want)
			}
		})
	}
}
