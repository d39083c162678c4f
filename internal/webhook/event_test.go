package webhook_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func advice(source string, s gatehouse.Severity) []gatehouse.Advisory {
	return []gatehouse.Advisory{{Source: source, Severity: s, Text: "a text"}}
}

func TestDerive(t *testing.T) {
	injection := gatehouse.Finding{Kind: "injection", Type: "instruction_override", Score: 0.9, Part: 1, Start: 0, End: 10}
	secret := gatehouse.Finding{Kind: "secret", Type: "aws-access-token", Score: 1, Part: 1, Start: 20, End: 40}
	cut := gatehouse.Edit{Part: 1, Op: gatehouse.Replace, Start: 18, End: 40, Text: "[AWS-ACCESS-TOKEN REDACTED]"}
	for _, c := range []struct {
		name      string
		decisions []gatehouse.Decision
		event     *gatehouse.Event
		want      []string
	}{
		{name: "nothing happened", decisions: []gatehouse.Decision{{At: gatehouse.Front, Would: gatehouse.Allow}}},
		{name: "user text was stopped", want: []string{"sh.evaluation.block"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Block, Findings: []gatehouse.Finding{injection}, Advisories: advice("safe_house", gatehouse.Critical)}}},
		{name: "so it would have been", want: []string{"sh.evaluation.block"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Mode: gatehouse.Observe, Verdict: gatehouse.Allow, Would: gatehouse.Block, Advisories: advice("safe_house", gatehouse.Critical)}}},
		{name: "user text was quarantined", want: []string{"sh.evaluation.quarantine"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Redact, Advisories: advice("safe_house.quarantine", gatehouse.Critical)}}},
		{name: "spans were cut out of a tool result", want: []string{"sh.evaluation.quarantine"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Redact, Advisories: advice("safe_house", gatehouse.Critical)}}},
		{name: "user text was marked", want: []string{"sh.evaluation.warn"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Redact, Advisories: advice("safe_house", gatehouse.Warn)}}},
		{name: "an endpoint that cannot be inspected was refused", decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Block, Advisories: advice("gatehouse.coverage", gatehouse.Info)}}},
		{name: "a secret went out of a tool result", want: []string{"sh.dlp.redacted"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Redact, Findings: []gatehouse.Finding{secret}, Edits: []gatehouse.Edit{cut}}}},
		{name: "a secret in output was only seen", decisions: []gatehouse.Decision{
			{At: gatehouse.Back, Mode: gatehouse.Observe, Would: gatehouse.Redact, Findings: []gatehouse.Finding{secret}}}},
		{name: "another span of its part was cut", decisions: []gatehouse.Decision{
			{At: gatehouse.Back, Would: gatehouse.Redact, Findings: []gatehouse.Finding{secret}, Edits: []gatehouse.Edit{{Part: 1, Op: gatehouse.Replace, End: 20}}}}},
		{name: "a call went with the secret in it", want: []string{"sh.dlp.redacted"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Back, Would: gatehouse.Block, Findings: []gatehouse.Finding{secret}, Edits: []gatehouse.Edit{{Part: 1, Op: gatehouse.Remove}}}}},
		{name: "reasoning followed an injection", want: []string{"integrity.violation"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Integrity, Would: gatehouse.Block, Analysis: "boundary_violation"}}},
		{name: "reasoning mentioned one", decisions: []gatehouse.Decision{{At: gatehouse.Integrity, Would: gatehouse.Allow, Analysis: "ambiguous"}}},
		{name: "a call needs approval", want: []string{"policy.violation"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Autonomy, Would: gatehouse.Allow}, {At: gatehouse.Autonomy, Would: gatehouse.Flag}}},
		{name: "a checkpoint failed", want: []string{"checkpoint.failed"}, decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Would: gatehouse.Block, Failed: true, Analysis: "error", Advisories: advice("gatehouse.error", gatehouse.Critical)}}},
		{name: "several things happened", want: []string{"sh.evaluation.quarantine", "sh.dlp.redacted", "policy.violation"},
			decisions: []gatehouse.Decision{
				{At: gatehouse.Front, Would: gatehouse.Redact, Findings: []gatehouse.Finding{injection, secret}, Edits: []gatehouse.Edit{cut},
					Advisories: advice("safe_house", gatehouse.Critical)},
				{At: gatehouse.Back, Would: gatehouse.Redact, Findings: []gatehouse.Finding{secret}, Edits: []gatehouse.Edit{cut}},
				{At: gatehouse.Autonomy, Would: gatehouse.Block}}},
		{name: "an approval is asked for", want: []string{"approval.requested"}, event: &gatehouse.Event{Type: "approval.requested", Target: "apr-1"}},
		{name: "a deed", want: []string{"agent.killed"}, event: &gatehouse.Event{Type: "agent.killed", Target: "mnm-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := audit.Record{ID: "request-1", Decisions: c.decisions, Event: c.event}
			list, err := webhook.Derive(r, "acme")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range list {
				got = append(got, e.Type)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			again, err := webhook.Derive(r, "acme")
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if again[i].ID != list[i].ID || string(again[i].Data) != string(list[i].Data) || slices.IndexFunc(list, func(e webhook.Event) bool { return e.ID == list[i].ID }) != i {
					t.Errorf("its id or data is not the same twice, or is another's: %s", list[i].ID)
				}
			}
		})
	}
}

// What an event tells: the strictest decision, all findings, the calls that were refused; never a text.
func TestData(t *testing.T) {
	r := audit.Record{
		ID: "request-1", Agent: "mnm-1", Session: "s-1", Verdicts: map[string]string{"front": "pass", "autonomy": "enforced"},
		Decisions: []gatehouse.Decision{
			{At: gatehouse.Autonomy, Would: gatehouse.Flag, Rule: "flag", Reason: "needs approval"},
			{At: gatehouse.Autonomy, Mode: gatehouse.Enforce, Verdict: gatehouse.Block, Would: gatehouse.Block, Rule: "rules[1]", Reason: "not allowed",
				Edits: []gatehouse.Edit{{Text: "a notice"}}, Advisories: advice("autonomy.policy", gatehouse.Warn),
				Calls: []gatehouse.CallVerdict{
					{Tool: "search", Verdict: gatehouse.Allow, Rule: "allow", CallID: "call-1"},
					{Tool: "send_email", Verdict: gatehouse.Block, Rule: "rules[1]", Reason: "not allowed", CallID: "call-2"}}},
		},
	}
	list, err := webhook.Derive(r, "acme")
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	want := `{"request_id":"request-1","agent_id":"mnm-1","session_id":"s-1","verdicts":{"autonomy":"enforced","front":"pass"},` +
		`"checkpoint":"autonomy","mode":"enforce","verdict":"block","would":"block","rule":"rules[1]","reason":"not allowed",` +
		`"calls":[{"tool":"send_email","verdict":"block","rule":"rules[1]","reason":"not allowed"}]}`
	if got := string(list[0].Data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	said := &gatehouse.Event{Type: "audit.event", Data: json.RawMessage(`{"note":"what an agent said"}`)}
	list, err = webhook.Derive(audit.Record{ID: "request-2", Agent: "mnm-1", Event: said}, "acme")
	if err != nil || len(list) != 1 || strings.Contains(string(list[0].Data), "what an agent said") {
		t.Errorf("%v, %v", list, err)
	}
}

// Whose an event is: the key's, else the agent's; what the administrator does is the affair of the agent's account.
func TestAccountOfEvent(t *testing.T) {
	b := newBench(t)
	got := map[string]*receiver{}
	for _, account := range []string{"acme", "globex", "default"} {
		got[account] = newReceiver(t)
		b.endpoint(account, got[account].URL, "*")
	}
	agent := session.Agent{ID: "mnm-1", Hash: "h", Account: "globex", Created: began, LastSeen: began}
	if _, err := b.store.EnsureAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		r    audit.Record
		want string
	}{
		{audit.Record{Account: "acme", Key: "mk-1", Agent: "mnm-1"}, "acme"},
		{audit.Record{Agent: "mnm-1"}, "globex"},
		{audit.Record{Agent: "mnm-unknown"}, "default"},
		{audit.Record{}, "default"},
		{audit.Record{Account: "default", Key: "admin", Event: &gatehouse.Event{Type: "agent.paused", Target: "mnm-1"}}, "globex"},
		{audit.Record{Account: "default", Key: "admin", Event: &gatehouse.Event{Type: "key.created", Target: "mk-1"}}, "default"},
	} {
		c.r.ID, c.r.Time = string(rune('a'+i)), began
		if c.r.Event == nil {
			c.r.Decisions = []gatehouse.Decision{{At: gatehouse.Integrity, Analysis: "boundary_violation"}}
		}
		before := len(got[c.want].all())
		if err := b.store.Append(t.Context(), c.r, nil, true); err != nil {
			t.Fatal(err)
		}
		b.step(b.round())
		if n := len(got[c.want].all()); n != before+1 {
			t.Errorf("case %d: %s heard of %d", i, c.want, n-before)
		}
	}
	if n := len(got["acme"].all()) + len(got["globex"].all()) + len(got["default"].all()); n != 6 {
		t.Errorf("%d deliveries in all", n)
	}
}

// A gateway without webhooks moves the cursor, but rarely; one that is made then hears only of what comes.
func TestNobodyListens(t *testing.T) {
	b := newBench(t)
	r := b.round()
	for range 3 {
		b.happen("acme", "agent.paused")
	}
	b.step(r)
	if seq, err := b.store.Cursor(t.Context()); err != nil || seq != 0 {
		t.Errorf("a commit for 3 records: cursor %d, %v", seq, err)
	}
	for range 300 {
		b.happen("acme", "agent.paused")
	}
	b.step(r)
	if seq, err := b.store.Cursor(t.Context()); err != nil || seq < 256 {
		t.Errorf("cursor %d, %v", seq, err)
	}
	to := newReceiver(t)
	b.endpoint("acme", to.URL, "*")
	b.happen("acme", "agent.killed")
	b.step(b.round()) // another one, which begins at the stored cursor
	if n := len(to.all()); n != 1 {
		t.Errorf("%d events", n)
	}
}
