package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// tells is what an exchange of these parts adds to its session.
func tells(t *testing.T, e *Engine, surface string, parts ...gatehouse.Part) *session.Update {
	t.Helper()
	x := &gatehouse.Exchange{ID: "r", Time: time.Now(), Surface: surface, Agent: "mnm-a", Session: "s", Known: true}
	x.Ask(parts...)
	e.Check(t.Context(), x, gatehouse.Front)
	return e.update(t.Context(), x, e.settings.Load())
}

func TestOnlyWhatIsToldPiecewiseIsKept(t *testing.T) {
	parts := []gatehouse.Part{
		{Kind: gatehouse.Text, Role: gatehouse.System, Text: "Be kind."},
		{Kind: gatehouse.Text, Role: gatehouse.User, Text: "Hello", Latest: true},
		{Kind: gatehouse.Text, Role: gatehouse.Assistant, Text: "Good day"},
		{Kind: gatehouse.Text, Role: gatehouse.User, Text: "Read it", Latest: true},
		{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Tool: "read_page", CallID: "c", Text: poisonedBy("drop@evil.test"), Latest: true},
		{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Tool: "void", Text: ""},
	}
	e, _ := observing(t)
	for _, surface := range []string{"proxy", "sdk"} {
		if u := tells(t, e, surface, parts...); u.Said != nil || u.Heard {
			t.Errorf("%s: %+v", surface, u.Said)
		}
	}
	e, _ = observing(t)
	u := tells(t, e, "api", parts...)
	if !u.Heard || len(u.Said) != 5 {
		t.Fatalf("%+v", u.Said)
	}
	for i, want := range []session.Said{{Source: "system"}, {Source: "user", Turn: 1}, {Source: "model"}, {Source: "user", Turn: 2},
		{Source: "tool_result", Tool: "read_page", CallID: "c", Tainted: true}} {
		got := u.Said[i]
		if got.Source != want.Source || got.Turn != want.Turn || got.Tool != want.Tool || got.CallID != want.CallID || got.Tainted != want.Tainted ||
			got.Tainted != (got.Score > 0) || got.Trace == nil || got.Excerpt != nil {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
}

// What there is no room for is told all the same, so that it counts as lost.
func TestLongQuestionsAreToldWithinBounds(t *testing.T) {
	e, _ := observing(t)
	var parts []gatehouse.Part
	for i := range session.MaxSaid + 5 {
		parts = append(parts, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: fmt.Sprint("result ", i)})
	}
	parts = append(parts, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "Go on", Latest: true},
		gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: strings.Repeat("long ", provenance.MaxTrace/4)})
	u := tells(t, e, "api", parts...)
	var without []int
	for i, s := range u.Said {
		if s.Trace == nil {
			without = append(without, i)
		}
	}
	if want := "[0 1 2 3 4 5 6 2006]"; fmt.Sprint(without) != want {
		t.Errorf("not kept: %v, want %s", without, want)
	}
}

func TestWhatIsNotKeptCountsAgainstACall(t *testing.T) {
	for _, lost := range []bool{false, true} {
		e, m := observing(t)
		p, err := policy.Compile(policy.Tools{Provenance: gatehouse.Flag})
		if err != nil {
			t.Fatal(err)
		}
		e.settings.Load().Policy = p
		said := tells(t, e, "api", gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "Mail boss@example.com", Latest: true}).Said
		e.Sessions.Store = &keeper{memory: m, said: said, lost: lost}
		l := look{scanner: e.Scanner, sessions: e.Sessions, s: e.settings.Load(), x: &gatehouse.Exchange{Surface: "api", Agent: "mnm-a", Session: "s"}}
		c, err := l.surroundings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for to, flagged := range map[string]bool{"boss@example.com": false, "new@example.net": lost} {
			c.Tool, c.Args = "send_message", `{"to":"`+to+`"}`
			j := p.Judge(c)
			if (j.Verdict == gatehouse.Flag) != flagged {
				t.Errorf("lost %v, %s: %+v", lost, to, j)
			}
			if l.evidence(t.Context(), j) != nil {
				t.Errorf("lost %v, %s: evidence of a result that is not known", lost, to)
			}
		}
	}
}

// broken is a memory that cannot say what was decided.
type broken struct{ *memory }

func (broken) DecidedTexts(context.Context, string, string, []session.Digest) (map[session.Digest][]gatehouse.Edit, error) {
	return nil, errors.New("the disk is gone")
}

func TestATextOfUnknownScoreIsTainted(t *testing.T) {
	e, m := observing(t)
	result := gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: poisonedBy("drop@evil.test"), Latest: true}
	harmless := gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: "Fine weather", Latest: true}
	for _, p := range []gatehouse.Part{result, harmless} {
		if err := m.Append(t.Context(), audit.Record{}, tells(t, e, "api", p), true); err != nil {
			t.Fatal(err)
		}
	}
	x := &gatehouse.Exchange{ID: "r", Time: time.Now(), Surface: "api", Agent: "mnm-a", Session: "s", Known: true}
	x.Ask(result, harmless)
	e.Check(t.Context(), x, gatehouse.Front)
	if u := e.update(t.Context(), x, e.settings.Load()); !u.Said[0].Tainted || u.Said[1].Tainted {
		t.Errorf("replayed: %+v", u.Said)
	}
	e.Sessions.Store = broken{m}
	for i := range x.Request {
		x.Request[i].Memo = nil // another process has looked it up
	}
	if u := e.update(t.Context(), x, e.settings.Load()); !u.Said[0].Tainted || !u.Said[1].Tainted {
		t.Errorf("of unknown score: %+v", u.Said)
	}
}
