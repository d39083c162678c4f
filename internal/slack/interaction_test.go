package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/slack"
)

const (
	approve = "gatehouse_approve"
	deny    = "gatehouse_deny"
)

func TestButtons(t *testing.T) {
	for _, c := range []struct {
		action, event, says string
		state               approval.State
	}{
		{approve, "approval.approved", "The call may run, once.", approval.Approved},
		{deny, "approval.denied", "The call is refused.", approval.Denied},
	} {
		t.Run(c.action, func(t *testing.T) {
			w := newWorkspace(t)
			g, id := w.start(), w.ask()
			w.message(id, waiting)
			if status := g.press(alice, c.action, id); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			a, err := w.queue().Get(t.Context(), id)
			if err != nil || a.State != c.state || a.By != "slack:U0ALICE" || a.From != "127.0.0.1" {
				t.Errorf("%+v, %v", a, err)
			}
			records := w.records(c.event)
			if len(records) != 1 {
				t.Fatalf("%d records of the decision, want 1", len(records))
			}
			var data struct{ Approval, Tool, By, From string }
			r := records[0]
			if err := json.Unmarshal(r.Event.Data, &data); err != nil {
				t.Fatal(err)
			}
			if r.Event.Target != id || r.Agent != "mnm-1" || r.Session != "s-1" || r.Account != "default" || r.Surface != "slack" ||
				data.Approval != id || data.Tool != "send_email" || data.By != "slack:U0ALICE" || data.From != "127.0.0.1" {
				t.Errorf("%+v, %s", r, r.Event.Data)
			}
			w.message(id, func(m fake.SlackMessage) bool { return says(c.says)(m) && says("\\u003c@U0ALICE\\u003e")(m) })
			if n := len(w.slack.Messages()); n != 1 {
				t.Errorf("%d messages", n)
			}
		})
	}
}

// Only what Slack has signed, lately, is looked at. Nothing else that a caller has makes up for it.
func TestSignature(t *testing.T) {
	w := newWorkspace(t)
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	body := w.slack.Interaction(alice, approve, id)
	url := g.server.URL + slack.Path
	forger := &fake.Slack{SigningSecret: "another secret", Channel: channel}
	for name, send := range map[string]func() (int, string, error){
		"another secret": func() (int, string, error) { return forger.Send(t.Context(), url, body, time.Now()) },
		"old": func() (int, string, error) {
			return w.slack.Send(t.Context(), url, body, time.Now().Add(-6*time.Minute))
		},
		"early": func() (int, string, error) {
			return w.slack.Send(t.Context(), url, body, time.Now().Add(6*time.Minute))
		},
	} {
		status, answer, err := send()
		if err != nil || status != http.StatusUnauthorized || !strings.Contains(answer, "invalid_signature") {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
	}
	for name, headers := range map[string]map[string]string{
		"none":               {},
		"no timestamp":       {"X-Slack-Signature": "v0=" + strings.Repeat("00", 32)},
		"no version":         {"X-Slack-Signature": strings.Repeat("00", 32), "X-Slack-Request-Timestamp": "1"},
		"no hex":             {"X-Slack-Signature": "v0=" + strings.Repeat("zz", 32), "X-Slack-Request-Timestamp": "1"},
		"a time of words":    {"X-Slack-Signature": "v0=" + strings.Repeat("00", 32), "X-Slack-Request-Timestamp": "now"},
		"the agent's own":    {"Authorization": "Bearer sk-agent", "X-Mnemom-Api-Key": "sk-agent"},
		"the token of Slack": {"Authorization": "Bearer " + botToken},
		"packed":             {"Content-Encoding": "gzip"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	if state := w.state(id); state != approval.Pending {
		t.Errorf("it is %s", state)
	}
	if status, _, err := w.slack.Send(t.Context(), url, body, time.Now().Add(-4*time.Minute)); err != nil || status != http.StatusOK {
		t.Errorf("a genuine one of four minutes ago: %d, %v", status, err)
	}
	if state := w.state(id); state != approval.Approved {
		t.Errorf("it is %s", state)
	}
}

// A signature is of one body: what is signed here is about the one, what arrives about the other.
func TestChangedBody(t *testing.T) {
	w := newWorkspace(t)
	g, one, other := w.start(), w.ask(), w.ask()
	w.message(other, waiting)
	body := w.slack.Interaction(alice, approve, one)
	w.slack.Garble = func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(one), []byte(other)) }
	if status, _, err := w.slack.Send(t.Context(), g.server.URL+slack.Path, body, time.Now()); err != nil || status != http.StatusUnauthorized {
		t.Errorf("%d, %v", status, err)
	}
	if w.state(one) != approval.Pending || w.state(other) != approval.Pending {
		t.Error("it was decided")
	}
}

// What decides nothing is answered with 200 and told to the user alone.
func TestPressesThatDecideNothing(t *testing.T) {
	w := newWorkspace(t)
	g := w.start()
	pending, done := w.ask(), w.ask()
	foreign := w.ask(func(d *approval.Demand) { d.Account = "acme" })
	w.message(pending, waiting)
	w.message(done, waiting)
	if _, err := w.queue().Deny(t.Context(), done, approval.Decision{By: "key-1"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, user, id, code, says string }{
		{"somebody else", "U0MALLORY", pending, "not_an_approver", "not among those"},
		{"nobody", "", pending, "not_an_approver", "not among those"},
		{"an unknown approval", alice, "apr-0", "not_found", "no such approval"},
		{"one of another account", alice, foreign, "not_found", "no such approval"},
		{"one that is decided", alice, done, "approval_settled", "already: denied"},
	} {
		before := len(w.slack.Whispers())
		if status := g.press(c.user, approve, c.id); status != http.StatusOK {
			t.Errorf("%s: %d", c.name, status)
		}
		eventually(t, func() bool { return len(w.slack.Whispers()) > before })
		if told := w.slack.Whispers()[before]; told.User != c.user || !strings.Contains(told.Text, c.says) {
			t.Errorf("%s: %+v", c.name, told)
		}
		records := w.records("exchange")
		if r := records[len(records)-1]; r.Error != c.code || r.Surface != "slack" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	elsewhere := &fake.Slack{SigningSecret: signingSecret, Channel: "C0OTHER"}
	if status, _, err := elsewhere.Send(t.Context(), g.server.URL+slack.Path, elsewhere.Interaction(alice, approve, pending), time.Now()); err != nil || status != http.StatusOK {
		t.Errorf("from another channel: %d, %v", status, err)
	}
	if w.state(pending) != approval.Pending || w.state(done) != approval.Denied || w.state(foreign) != approval.Pending {
		t.Errorf("%s, %s, %s", w.state(pending), w.state(done), w.state(foreign))
	}
	if n := len(w.records("approval.approved")) + len(w.records("approval.denied")); n != 0 {
		t.Errorf("%d records of decisions", n)
	}
}

// What was never posted has no button, whatever is signed.
func TestPressWithoutMessage(t *testing.T) {
	w := newWorkspace(t)
	w.slack.Trouble = func(rw http.ResponseWriter, method string) bool {
		if method == "chat.postMessage" {
			rw.WriteHeader(http.StatusBadGateway)
		}
		return method == "chat.postMessage"
	}
	g, id := w.start(), w.ask()
	if status := g.press(alice, approve, id); status != http.StatusOK {
		t.Errorf("%d", status)
	}
	eventually(t, func() bool { return len(w.slack.Whispers()) == 1 })
	if state := w.state(id); state != approval.Pending {
		t.Errorf("it is %s", state)
	}
}

// What is signed and no button of ours is refused.
func TestOtherInteractions(t *testing.T) {
	w := newWorkspace(t)
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	for name, body := range map[string]string{
		"nothing":       "",
		"no form":       "%zz",
		"no JSON":       "payload=x",
		"another type":  `payload={"type":"view_submission","user":{"id":"U0ALICE"},"actions":[{"action_id":"gatehouse_approve","value":"` + id + `"}]}`,
		"no action":     `payload={"type":"block_actions","user":{"id":"U0ALICE"}}`,
		"other actions": `payload={"type":"block_actions","user":{"id":"U0ALICE"},"actions":[{"action_id":"approve","value":"` + id + `"}]}`,
		"two actions": `payload={"type":"block_actions","user":{"id":"U0ALICE"},"actions":[{"action_id":"gatehouse_deny","value":"` + id +
			`"},{"action_id":"gatehouse_approve","value":"` + id + `"}]}`,
		"no approval": `payload={"type":"block_actions","user":{"id":"U0ALICE"},"actions":[{"action_id":"gatehouse_approve","value":"x"}]}`,
	} {
		status, answer, err := w.slack.Send(t.Context(), g.server.URL+slack.Path, []byte(body), time.Now())
		if err != nil || status != http.StatusBadRequest || !strings.Contains(answer, "invalid_interaction") {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
	}
	if state := w.state(id); state != approval.Pending {
		t.Errorf("it is %s", state)
	}
	g.Use(nil)
	if status := g.press(alice, approve, id); status != http.StatusNotFound {
		t.Errorf("without Slack in the configuration: %d", status)
	}
}

// Of all who press at once one decides.
func TestBothButtonsAtOnce(t *testing.T) {
	w := newWorkspace(t)
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	var presses sync.WaitGroup
	for i := range 20 {
		presses.Go(func() { g.press([]string{alice, "U0BOB"}[i%2], []string{approve, deny}[i/2%2], id) })
	}
	presses.Wait()
	approved, denied := len(w.records("approval.approved")), len(w.records("approval.denied"))
	if want := map[approval.State][2]int{approval.Approved: {1, 0}, approval.Denied: {0, 1}}[w.state(id)]; want != [2]int{approved, denied} {
		t.Errorf("%s, with %d approvals and %d denials recorded", w.state(id), approved, denied)
	}
}

// A request that is sent again, while its signature is still good, approves nothing again: not the same call, once it ran.
func TestReplayedRequest(t *testing.T) {
	w := newWorkspace(t)
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	body, at := w.slack.Interaction(alice, approve, id), time.Now()
	send := func() {
		t.Helper()
		if status, _, err := w.slack.Send(t.Context(), g.server.URL+slack.Path, body, at); err != nil || status != http.StatusOK {
			t.Errorf("%d, %v", status, err)
		}
	}
	send()
	w.asked--
	if a, err := w.queue().Ask(t.Context(), approval.Demand{Account: "default", Agent: "mnm-1", Session: "s-1", Tool: "send_email", Digest: [32]byte{1},
		Request: "request-2", Now: time.Now(), Expires: time.Now().Add(time.Hour)}); err != nil || a.Verdict != gatehouse.Allow {
		t.Fatalf("%+v, %v", a, err)
	}
	send()
	a, err := w.queue().Get(t.Context(), id)
	if err != nil || a.State != approval.Consumed || a.Again != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if n := len(w.records("approval.approved")); n != 1 {
		t.Errorf("%d approvals are recorded", n)
	}
}

// Slack waits three seconds, whatever the store does.
func TestSlowStore(t *testing.T) {
	w := newWorkspace(t)
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	var given time.Duration
	g.Transact = func(ctx context.Context, _ func(context.Context) error) error {
		until, _ := ctx.Deadline()
		given = time.Until(until)
		<-ctx.Done()
		return ctx.Err()
	}
	// The time the store is given, not the time the test took: a crowded processor adds to that.
	if status := g.press(alice, approve, id); status != http.StatusOK || given <= 0 || given > 2500*time.Millisecond {
		t.Errorf("%d, the store was given %s", status, given)
	}
	eventually(t, func() bool { return len(w.slack.Whispers()) == 1 })
	if told := w.slack.Whispers()[0]; !strings.Contains(told.Text, "press again") || w.state(id) != approval.Pending {
		t.Errorf("%+v, %s", told, w.state(id))
	}
}
