package conformance_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// want is what a turn must come to. What is left out is wanted to be absent: no calls, no advisories, no error.
type want struct {
	Verdict    string   `json:"verdict"`
	AIP        string   `json:"aip"`        // X-AIP-Verdict; left out: skipped, or absent where the model was not called
	Status     int      `json:"status"`     // left out: 200
	NotCalled  bool     `json:"not_called"` // the model must not have been called
	Sent       []string `json:"sent"`       // texts in the request that reached the model; with ! in front: not in it
	Said       []string `json:"said"`       // texts in the body that the client got; with ! in front: not in it
	ErrorCode  string   `json:"error_code"`
	Cut        bool     `json:"cut"`        // the connection breaks before the end
	Advisories []string `json:"advisories"` // sources, in order
	Approvals  int      `json:"approvals"`  // how many wait for a human because of this turn

	RequestUnchanged  *bool `json:"request_unchanged"`  // left out: unchanged on the first turn where all verdicts are pass or observed
	ResponseUnchanged *bool `json:"response_unchanged"` // left out: the same, on every turn

	wantAnswer
	Others []wantAnswer `json:"others"` // the choices after the first
}

type wantAnswer struct {
	Text   string   `json:"text"` // * stands for anything, $ID for the request id, $APPROVAL for the id of one; left out: not looked at
	Calls  []string `json:"calls"`
	Finish string   `json:"finish"` // stop, calls, refused; left out: not looked at
}

func (w want) check(t *testing.T, o outcome) {
	t.Helper()
	if !o.early || !o.cut { // a stream that breaks off tells no verdict
		same(t, "X-Mnemom-Verdict", o.header.Get(verdict.Header), w.Verdict)
	}
	called := len(o.reached) > 0
	same(t, "model called", called, !w.NotCalled)
	aip := w.AIP
	if aip == "" && called {
		aip = "skipped"
	}
	if !o.early || !o.cut {
		same(t, "X-AIP-Verdict", o.header.Get(verdict.AIPHeader), aip)
	}
	same(t, "status", o.status, w.Status)
	same(t, "error code", o.code, w.ErrorCode)
	same(t, "connection cut", o.cut, w.Cut)
	var sources []string
	advisories, err := verdict.ParseAdvisories(o.header.Get(verdict.AdvisoryHeader))
	if err != nil {
		t.Error(err)
	}
	for _, a := range advisories {
		sources = append(sources, a.Source)
	}
	wanted := w.Advisories
	if o.early { // what was not known before the answer is told elsewhere
		wanted = wanted[:min(len(sources), len(wanted))]
	}
	if !slices.Equal(sources, wanted) {
		t.Errorf("advisories %q, want %q: %s", sources, w.Advisories, o.header.Get(verdict.AdvisoryHeader))
	}
	for _, r := range o.reached {
		holds(t, "the request that reached the model", texts(r.body)+strings.Join(r.results, "\n"), w.Sent)
	}
	holds(t, "the response", o.said(), w.Said)
	if o.status != http.StatusOK || o.cut {
		return
	}
	all := append([]wantAnswer{w.wantAnswer}, w.Others...)
	if len(o.answers) != len(all) {
		t.Fatalf("%d choices, want %d", len(o.answers), len(all))
	}
	for i, a := range o.answers {
		all[i].check(t, a, o.header.Get("X-Mnemom-Request-Id"))
	}
}

func (w wantAnswer) check(t *testing.T, a answer, id string) {
	t.Helper()
	if w.Text != "" {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(w.Text, "$ID", id)), `\*`, ".*")
		pattern = strings.ReplaceAll(pattern, `\$APPROVAL`, approvalID)
		if !regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(a.text) {
			t.Errorf("text %q, want %q", a.text, w.Text)
		}
	}
	var names []string
	for _, c := range a.calls {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, w.Calls) {
		t.Errorf("calls %q, want %q", names, w.Calls)
	}
	if w.Finish != "" && a.finish != "" { // without the latter, there are no words for it
		same(t, "finish", a.finish, w.Finish)
	}
}

// holds looks for texts in a text, and for those with ! in front that they are not there.
func holds(t *testing.T, where, text string, wanted []string) {
	t.Helper()
	for _, s := range wanted {
		if gone, not := strings.CutPrefix(s, "!"); strings.Contains(text, gone) == not {
			t.Errorf("%s: want %q in\n%s", where, s, text)
		}
	}
}

// said is the body, and behind it what a client puts together from its deltas.
func (o outcome) said() string {
	out := string(o.body)
	for _, a := range o.answers {
		out += "\n" + a.text + "\n" + a.reasoning
		for _, c := range a.calls {
			out += "\n" + c.Name + c.Args
		}
	}
	return out
}

// texts are all strings of a JSON document, decoded, a line each.
func texts(doc []byte) string {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return err.Error()
	}
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case object:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		}
	}
	walk(v)
	return b.String()
}

// checkFidelity looks for what must hold of every exchange: bytes that nobody had to change are unchanged, results stay of
// their format, arguments are never rewritten, and usage is the provider's.
func checkFidelity(t *testing.T, u *turn, w want, o outcome) {
	t.Helper()
	quiet := !strings.Contains(o.header.Get(verdict.Header), "enforced") && !strings.Contains(o.header.Get(verdict.Header), "nudged")
	for _, r := range o.reached {
		if unchanged, look := expected(w.RequestUnchanged, quiet && !u.later); look {
			same(t, "request unchanged", bytes.Equal(r.body, o.asked), unchanged)
		}
		if len(r.results) == 0 {
			continue
		}
		var results []message
		for _, m := range u.conversation.Messages {
			if m.Role == "tool" {
				results = append(results, m)
			}
		}
		for i := range results { // the newest results are the last ones
			sent := r.results[len(r.results)-len(results)+i]
			if json.Valid([]byte(results[i].Text)) && !json.Valid([]byte(sent)) {
				t.Errorf("a result that was JSON is none any more: %s", sent)
			}
		}
	}
	if len(o.reached) == 0 || o.cut {
		return
	}
	if unchanged, look := expected(w.ResponseUnchanged, quiet); look {
		same(t, "response unchanged", bytes.Equal(o.body, o.from), unchanged)
	}
	if o.status != http.StatusOK || o.modelSaid == nil {
		return
	}
	same(t, "usage", o.usage, o.modelUsed)
	for i, a := range o.answers {
		for _, c := range a.calls {
			if !slices.Contains(o.modelSaid[i].calls, c) {
				t.Errorf("the model did not make the call %+v", c)
			}
		}
	}
}

// expected is what was written down, or else that nothing changed where nothing had to; look is false when neither says.
func expected(written *bool, quiet bool) (unchanged, look bool) {
	if written != nil {
		return *written, true
	}
	return true, quiet
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// checkHeader looks at the header surface, which every response carries whole.
func checkHeader(t *testing.T, o outcome) {
	t.Helper()
	for name := range o.header {
		if !header.Known(name) {
			t.Errorf("retired or unknown header %s", name)
		}
	}
	if id := o.header.Values("X-Mnemom-Request-Id"); len(id) != 1 || !uuid4.MatchString(id[0]) {
		t.Errorf("X-Mnemom-Request-Id: %q", id)
	}
	if v := o.header.Values(verdict.Header); len(v) != 1 {
		t.Errorf("%s: %q", verdict.Header, v)
	} else if _, err := verdict.ParseStrict(v[0]); err != nil {
		t.Error(err)
	}
	// A body that cannot be read belongs to no session.
	if o.header.Get("X-Mnemom-Agent") == "" || o.header.Get("X-Mnemom-Session") == "" && (len(o.reached) > 0 || o.status != http.StatusBadRequest) {
		t.Error("no agent or no session, though both are bound")
	}
}

// checkRecord compares the one record of the exchange with what the client was told.
func checkRecord(t *testing.T, o outcome, records []audit.Record) (one bool) {
	t.Helper()
	if len(records) != 1 {
		t.Errorf("%d records of one exchange", len(records))
		return false
	}
	r := records[0]
	told := verdict.Parse(o.header.Get(verdict.Header))
	for at, v := range map[string]verdict.Value{"front": told.Front, "autonomy": told.Autonomy, "integrity": told.Integrity, "back": told.Back} {
		same(t, "recorded "+at, r.Verdicts[at], string(v))
	}
	if !o.early || !o.cut {
		same(t, "recorded analysis", r.Analysis, o.header.Get(verdict.AIPHeader))
	}
	same(t, "recorded agent", r.Agent, o.header.Get("X-Mnemom-Agent"))
	same(t, "recorded session", r.Session, o.header.Get("X-Mnemom-Session"))
	same(t, "recorded status", r.Status, o.status)
	if len(o.reached) == 0 {
		same(t, "recorded error", r.Error, o.code)
	}
	return true
}

// approvalID is how the id of an approval looks.
const approvalID = "apr-[0-9a-f]{32}"

// checkApprovals looks for the approvals that a turn has made: as many as wanted, and each is named to the client.
func checkApprovals(t *testing.T, db *store.Store, o outcome, wanted int) {
	t.Helper()
	agent, id := o.header.Get("X-Mnemom-Agent"), o.header.Get("X-Mnemom-Request-Id")
	list, _, err := db.Approvals(t.Context(), approval.Filter{Agents: []string{agent}, Now: time.Now(), Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(a approval.Approval) bool { return a.Request != id })
	same(t, "approvals", len(list), wanted)
	for _, a := range list {
		same(t, "state of the approval", a.State, approval.Pending)
		same(t, "session of the approval", a.Session, o.header.Get("X-Mnemom-Session"))
		if !slices.ContainsFunc(o.answers, func(one answer) bool { return strings.Contains(one.text, a.ID) }) {
			t.Errorf("no answer names %s, which waits for a human", a.ID)
		}
	}
}

// since reads the records that came after a head, by request id.
func since(t *testing.T, db *store.Store, head audit.Head) map[string][]audit.Record {
	t.Helper()
	out := map[string][]audit.Record{}
	for e, err := range db.Entries(t.Context(), head.Seq+1) {
		if err != nil {
			t.Fatal(err)
		}
		var r audit.Record
		if err := json.Unmarshal(e.Record, &r); err != nil {
			t.Fatal(err)
		}
		out[r.ID] = append(out[r.ID], r)
	}
	return out
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
