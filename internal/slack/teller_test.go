package slack_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// What people see is what they decide on, and nothing in it is anything but text.
func TestMessage(t *testing.T) {
	w := newWorkspace(t)
	g := w.start()
	id := w.ask(func(d *approval.Demand) { d.Tool = "send<!here>"; d.Tainted = true })
	m := w.message(id, waiting)
	for _, want := range []string{"bot (mnm-1)", "it sends mail", "rules[0]", "session risk 0.25", "held an injection", "read_page", "args.to", "marked quote", id, "expires"} {
		if !strings.Contains(m.Blocks, want) {
			t.Errorf("%q is missing in %s", want, m.Blocks)
		}
	}
	if strings.Contains(m.Blocks, "marked-recipient") || strings.Contains(m.Blocks, "\u202e") {
		t.Errorf("arguments, or what changes the direction of text, are shown: %s", m.Blocks)
	}
	if strings.Contains(m.Text, "<") || strings.Contains(m.Blocks, "mrkdwn") {
		t.Errorf("text of others is read as a format: %s %s", m.Text, m.Blocks)
	}
	settings := w.settings()
	settings.Arguments, settings.Link = true, "https://gatehouse.example/v1/approvals/"
	g.Use(settings)
	id = w.ask()
	if m := w.message(id, waiting); !strings.Contains(m.Blocks, "marked-recipient") || !strings.Contains(m.Blocks, settings.Link+id) {
		t.Errorf("no arguments or no link: %s", m.Blocks)
	}
}

func TestWhatOthersDo(t *testing.T) {
	w := newWorkspace(t)
	w.start()
	soon := w.ask(func(d *approval.Demand) { d.Expires = time.Now().Add(700 * time.Millisecond) })
	id := w.ask()
	w.message(soon, waiting)
	w.message(id, waiting)
	if _, err := w.queue().Approve(t.Context(), id, approval.Decision{By: "key-7", Note: "go <!channel>"}); err != nil {
		t.Fatal(err)
	}
	w.message(id, says("Decided by key-7. Note: go"))
	if _, err := w.queue().Revoke(t.Context(), id, approval.Decision{By: "key-7"}); err != nil {
		t.Fatal(err)
	}
	w.message(id, says("taken back"))
	w.message(soon, says("Nobody decided in time"))
}

// A restart posts nothing twice, and what happened meanwhile is told.
func TestRestart(t *testing.T) {
	w := newWorkspace(t)
	g, old := w.start(), w.ask()
	w.message(old, waiting)
	kept := w.ask()
	w.message(kept, waiting)
	eventually(t, func() bool { _, ok, err := w.store.SlackMessage(t.Context(), kept); return ok && err == nil })
	g.stop()
	made, settled := w.ask(), w.ask()
	for _, id := range []string{old, settled} {
		if _, err := w.queue().Deny(t.Context(), id, approval.Decision{By: "key-1"}); err != nil {
			t.Fatal(err)
		}
	}
	w.start()
	w.message(made, waiting)
	w.message(old, says("Denied"))
	messages := w.slack.Messages()
	if len(messages) != 3 {
		t.Errorf("%d messages, want 3", len(messages))
	}
	for _, m := range messages {
		if strings.Contains(m.Blocks, settled) || strings.Contains(m.Blocks, kept) && m.Updates > 0 {
			t.Errorf("%+v", m)
		}
	}
}

// Of two gateways on one store one tells Slack, and the other when that ends.
func TestTwoGateways(t *testing.T) {
	w := newWorkspace(t)
	first := w.start()
	w.start()
	var ids []string
	for range 10 {
		ids = append(ids, w.ask())
	}
	for _, id := range ids {
		w.message(id, waiting)
	}
	first.stop()
	w.message(w.ask(), waiting)
	if n := len(w.slack.Messages()); n != 11 {
		t.Errorf("%d messages of 11 approvals", n)
	}
}

// While Slack is away, or says no, approvals are decided all the same, and what is still pending is told afterwards.
func TestTrouble(t *testing.T) {
	for name, trouble := range map[string]func(w http.ResponseWriter){
		"limits": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"a fault": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"no JSON": func(w http.ResponseWriter) { w.Write([]byte("<html>" + botToken)) },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"a wrong token": func(w http.ResponseWriter) { w.Write([]byte(`{"ok":false,"error":"invalid_auth"}`)) },
		"a dead line":   func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			var away atomic.Bool
			away.Store(true)
			w.slack.Trouble = func(rw http.ResponseWriter, _ string) bool {
				if away.Load() {
					trouble(rw)
					return true
				}
				return false
			}
			g := w.start()
			first, second := w.ask(), w.ask()
			eventually(t, func() bool { return strings.Contains(g.log.String(), first) })
			if _, err := w.queue().Approve(t.Context(), first, approval.Decision{By: "key-1"}); err != nil {
				t.Fatal(err)
			}
			began, calls := time.Now(), w.slack.Calls("chat.postMessage")
			away.Store(false)
			w.message(second, waiting)
			if n := len(w.slack.Messages()); n != 1 {
				t.Errorf("%d messages, want 1: what was decided meanwhile needs none", n)
			}
			if w.slack.Calls("elsewhere") > 0 {
				t.Error("the token was handed on")
			}
			if name == "limits" && (time.Since(began) < 500*time.Millisecond || w.slack.Calls("chat.postMessage") > calls+1) {
				t.Errorf("asked again after %s, %d times", time.Since(began), w.slack.Calls("chat.postMessage")-calls)
			}
		})
	}
}

// Slack refuses a token that is not the bot's; when it has been put right, nothing was missed.
func TestWrongToken(t *testing.T) {
	w := newWorkspace(t)
	g := w.start()
	settings := w.settings()
	settings.Token = "xoxb-another"
	g.Use(settings)
	id := w.ask()
	eventually(t, func() bool { return strings.Contains(g.log.String(), "invalid_auth") })
	if len(w.slack.Messages()) != 0 {
		t.Fatal("a wrong token posts")
	}
	g.Use(w.settings())
	w.message(id, waiting)
}

// A message that cannot be changed holds up nobody else's.
func TestMessageThatIsGone(t *testing.T) {
	w := newWorkspace(t)
	w.slack.Trouble = func(rw http.ResponseWriter, method string) bool {
		if method == "chat.update" {
			rw.Write([]byte(`{"ok":false,"error":"message_not_found"}`))
		}
		return method == "chat.update"
	}
	g, id := w.start(), w.ask()
	w.message(id, waiting)
	g.press(alice, deny, id)
	w.message(w.ask(), waiting)
	if n := w.slack.Calls("chat.update"); n != 1 {
		t.Errorf("%d attempts", n)
	}
}
