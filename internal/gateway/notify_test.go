package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

const admin = "mnm_administrator-of-this-test"

// arrivals are the bodies that a server was sent.
type arrivals struct {
	mu     sync.Mutex
	bodies []string
}

func (a *arrivals) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies = append(a.bodies, string(body))
}

func (a *arrivals) has(words ...string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, body := range a.bodies {
		all := true
		for _, w := range words {
			all = all && strings.Contains(body, w)
		}
		if all {
			return true
		}
	}
	return false
}

// A flagged call is shown in Slack and told to the configured webhook; a button lets it through, once, and that is told as well.
func TestNotices(t *testing.T) {
	hook := &arrivals{}
	receiver := httptest.NewServer(hook)
	defer receiver.Close()
	slack := &fake.Slack{Token: "xoxb-1", SigningSecret: "signing", Channel: "C1"}
	api := httptest.NewServer(slack)
	defer api.Close()

	cfg, err := config.Parse("test.yaml", []byte(`
auth: {admin_token: `+admin+`}
tools: {rules: [{tool: send_email, verdict: flag}]}
notify:
  private_targets: [127.0.0.0/8]
  webhooks: [{url: "`+receiver.URL+`", secret: a-secret-of-20-bytes-or-more}]
  slack: {token: xoxb-1, channel: C1, signing_secret: signing, approvers: [U1], api: "`+api.URL+`"}
`))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = settings(t).Store
	g, err := open(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	defer server.Close()
	// The session is the header's, so that both calls are in one.
	call := func() (verdict, id string) {
		t.Helper()
		var answer struct {
			Verdict  string `json:"verdict"`
			Approval *struct {
				ID string `json:"id"`
			} `json:"approval"`
		}
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/checkpoints/tool-call",
			strings.NewReader(`{"session":"s-1","tool":"send_email","arguments":{"to":"a@example.com"}}`))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer sk-agent")
		g.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body, err)
		}
		if answer.Approval != nil {
			id = answer.Approval.ID
		}
		return answer.Verdict, id
	}
	verdict, id := call()
	if verdict != "flag" || id == "" {
		t.Fatal(verdict, id)
	}
	eventually(t, "a message", func() bool { m := slack.Messages(); return len(m) == 1 && strings.Contains(m[0].Blocks, id) })
	eventually(t, "a notice", func() bool { return hook.has("approval.requested", id) })
	status, _, err := slack.Send(t.Context(), server.URL+"/slack/interactions", slack.Interaction("U1", "gatehouse_approve", id), time.Now())
	if err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	eventually(t, "a notice of the decision", func() bool { return hook.has("approval.approved", id) })
	if verdict, _ := call(); verdict != "allow" {
		t.Errorf("an approved call: %s", verdict)
	}
	if verdict, again := call(); verdict == "allow" {
		t.Errorf("the approval let two calls through: %s %s", verdict, again)
	}
	eventually(t, "a notice of the use", func() bool { return hook.has("approval.consumed", id) })
	eventually(t, "the message after all", func() bool { return strings.Contains(slack.Messages()[0].Blocks, "was let through, once") })

	// Without them in the configuration, both are gone.
	if w := ask(g, admin, "GET", "/v1/webhooks", ""); !strings.Contains(w.Body.String(), "from the configuration") {
		t.Error(w.Body)
	}
	cfg.Notify = config.Notify{}
	if err := g.Use(cfg); err != nil {
		t.Fatal(err)
	}
	if w := ask(g, admin, "GET", "/v1/webhooks", ""); !strings.Contains(w.Body.String(), `"total":0`) {
		t.Error(w.Body)
	}
	if w := ask(g, "", "POST", "/slack/interactions", ""); w.Code != http.StatusNotFound {
		t.Error(w.Code, w.Body)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come", what)
}
