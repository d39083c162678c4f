package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// crowdAgent is whose calls wait.
const crowdAgent = "mnm-00000000-0000-4000-8000-000000000001"

const crowdToken = "mnm_administrator-of-the-crowd"

// serveChild runs a gateway in a process of its own until the test ends.
func serveChild(t *testing.T, file, token string) (address string, pid int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childConfig+"="+file, "GATEHOUSE_ADMIN_TOKEN="+token)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			go io.Copy(io.Discard, stderr) //nolint:errcheck // so that it never waits for us
			return line.Address, cmd.Process.Pid
		}
	}
	t.Fatal("it does not start")
	return "", 0
}

// waitingCalls flags calls on a store and returns their approvals and who decides on them in another process.
func waitingCalls(t *testing.T, url string, n int) (ids []string, decide *approval.Queue) {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	box, err := seal.Load(s.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	q := &approval.Queue{Store: s, Box: box, Log: slog.New(slog.DiscardHandler),
		Record: func(context.Context, *gatehouse.Exchange) error { return nil }}
	for i := range n {
		args := fmt.Sprintf(`{"to":"\u001b[31mnr%d@example.com"}`, i)
		a, err := q.Ask(t.Context(), approval.Demand{Account: "default", Agent: crowdAgent, AgentName: "mailer",
			Session: "s-1", Surface: "api", Request: "r-1", Tool: "send_email", CallID: strconv.Itoa(i), Digest: sha256.Sum256([]byte(args)),
			Rule: "tools.flag[0]", Reason: "needs approval", Card: approval.Card{Arguments: args,
				Evidence: &approval.Evidence{Argument: "args.to", Tool: "read_page", Quote: "write to\n\u202e" + strconv.Itoa(i)}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.Approval)
	}
	return ids, q
}

func TestApprovalsFromTheCommandLine(t *testing.T) {
	url := newStoreURL(t)
	ids, _ := waitingCalls(t, url, 4)
	if list := resources(t, url, "approvals", "list", "--state", "pending"); len(list) != 4 {
		t.Fatalf("%d are pending, want 4", len(list))
	}
	table := onStore(t, url, "", "approvals", "list")
	if table.code != 0 || !strings.HasPrefix(table.stdout, "ID ") || !strings.Contains(table.stdout, ids[3]) || strings.Contains(table.stdout, "example.com") {
		t.Errorf("%+v", table)
	}
	shown := onStore(t, url, "", "approvals", "show", ids[0])
	for _, want := range []string{"pending", "send_email", "tools.flag[0]", "needs approval", "r0@example.com", "args.to came from a result of the tool read_page", "write to"} {
		if !strings.Contains(shown.stdout, want) {
			t.Errorf("it does not show %q:\n%s", want, shown.stdout)
		}
	}
	if strings.ContainsAny(shown.stdout, "\x1b\u202e\r") || shown.code != 0 {
		t.Errorf("it commands the terminal: %q", shown.stdout)
	}

	approved := resource(t, url, "", "approvals", "approve", ids[0], "--note", "asked the customer")
	if approved["state"] != "approved" || approved["note"] != "asked the customer" || approved["decided_by"] != "admin" || approved["decided_from"] != "command line" {
		t.Errorf("%v", approved)
	}
	for _, again := range [][]string{{"approve", ids[0]}, {"deny", ids[0]}, {"revoke", ids[1]}, {"show", "apr-0"}, {"approve", "apr-0"}} {
		if got := onStore(t, url, "", append([]string{"approvals"}, again...)...); got.code != 1 || got.stdout != "" || got.stderr == "" {
			t.Errorf("%v: %+v, want a negative answer", again, got)
		}
	}
	if denied := resource(t, url, "", "approvals", "deny", ids[1]); denied["state"] != "denied" || denied["arguments"] != nil {
		t.Errorf("%v", denied)
	}
	if got := onStore(t, url, "", "approvals", "show", ids[1]); !strings.Contains(got.stdout, "not kept any more") {
		t.Errorf("%+v", got)
	}
	if revoked := resource(t, url, "", "approvals", "revoke", ids[0]); revoked["state"] != "revoked" {
		t.Errorf("%v", revoked)
	}
	for _, wrong := range [][]string{{"approve"}, {"approve", ids[2], "--scope", "args.to == 'a'"}, {"approve", ids[2], "--for", "1d"}, {"approve", "a/b"},
		{"approve", ids[2], "--scope", "true", "--for", "1d"}, {"approve", ids[2], "--scope", "args.to == 'a'", "--for", "1d"}, {"list", "--state", "open"}} {
		if got := onStore(t, url, "", append([]string{"approvals"}, wrong...)...); got.code != 2 || got.stdout != "" {
			t.Errorf("%v: %+v, want bad usage", wrong, got)
		}
	}
	wantEvents(t, url, "approval.approved", "approval.denied", "approval.revoked")
}

func TestGrantsFromTheCommandLine(t *testing.T) {
	url := newStoreURL(t)
	ids, q := waitingCalls(t, url, 1)
	scope := `args.to.endsWith("@example.com")`
	resource(t, url, "", "approvals", "approve", ids[0], "--scope", scope, "--for", "14d")
	list := resources(t, url, "approvals", "grants", "list")
	if len(list) != 1 || list[0]["scope"] != scope || list[0]["approval"] != ids[0] || list[0]["agent_id"] != crowdAgent || list[0]["tool"] != "send_email" {
		t.Fatalf("%v", list)
	}
	found, err := q.Store.GrantsOf(t.Context(), crowdAgent, "send_email", time.Now())
	if err != nil || len(found) != 1 || found[0].From != "command line" {
		t.Errorf("%+v, %v", found, err)
	}
	if got := onStore(t, url, "", "approvals", "grants", "revoke", list[0]["id"].(string)); got.code != 0 || !strings.Contains(got.stdout, scope) {
		t.Errorf("%+v", got)
	}
	if got := onStore(t, url, "", "approvals", "grants", "revoke", "gra-0"); got.code != 1 {
		t.Errorf("%+v", got)
	}
	agent := resource(t, url, "", "agents", "create", "mailer", "--hash-proof", strings.Repeat("ab", 32))["id"].(string)
	made := resource(t, url, "", "approvals", "grants", "create", "--agent", agent, "--tool", "pay", "--scope", "args.n <= 5", "--for", "12h", "--note", "small sums")
	if made["tool"] != "pay" || made["note"] != "small sums" {
		t.Errorf("%v", made)
	}
	for code, args := range map[int][]string{
		1: {"--agent", crowdAgent, "--tool", "pay", "--scope", "args.n <= 5", "--for", "12h"},
		2: {"--agent", agent, "--tool", "pay", "--scope", "args.n <= 5"},
	} {
		if got := onStore(t, url, "", append([]string{"approvals", "grants", "create"}, args...)...); got.code != code {
			t.Errorf("%v: %+v, want %d", args, got, code)
		}
	}
	wantEvents(t, url, "grant.created", "approval.approved", "grant.revoked", "agent.created", "grant.created")
}

// While a gateway serves from the store in another process, a decision on the command line answers who waits there.
func TestCommandLineAnswersTheGateway(t *testing.T) {
	dir := t.TempDir()
	file, url := filepath.Join(dir, "gatehouse.yaml"), "sqlite:"+filepath.Join(dir, "gatehouse.db")
	writeFile(t, file, "listen: 127.0.0.1:0\nstore: "+url+"\n")
	ids, _ := waitingCalls(t, url, 2)
	address, _ := serveChild(t, file, crowdToken)
	answered := make(chan said, 1)
	go func() {
		answered <- ask(t, "GET", "http://"+address+"/v1/approvals/"+ids[0]+"?wait=30", "", "X-Mnemom-Api-Key", crowdToken)
	}()
	time.Sleep(300 * time.Millisecond)
	resource(t, url, "", "approvals", "approve", ids[0])
	start := time.Now()
	got := <-answered
	var body struct{ State string }
	if err := json.Unmarshal(got.body, &body); err != nil || body.State != "approved" || time.Since(start) > 5*time.Second {
		t.Errorf("%d %s after %v", got.status, got.body, time.Since(start))
	}
}

func TestApprovalsWatch(t *testing.T) {
	url := newStoreURL(t)
	ids, q := waitingCalls(t, url, 2)
	ctx, stop := context.WithCancel(t.Context())
	var out, errs strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"approvals", "list", "--state", "pending", "--watch", "--json", "--store", url}, strings.NewReader(""), &out, &errs)
	}()
	time.Sleep(time.Second)
	if _, err := q.Deny(t.Context(), ids[0], approval.Decision{}); err != nil {
		t.Fatal(err)
	}
	more, err := q.Ask(t.Context(), approval.Demand{Account: "default", Agent: crowdAgent, Session: "s-2", Tool: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("%d %s", code, errs.String())
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var one struct{ ID string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, one.ID)
	}
	if want := append(ids, more.Approval); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}
