package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/judge"
)

// scored is a scanner that gives texts the score that they begin with, found by the detector that comes next: "0.70 linear/input …".
type scored struct{}

var scoredText = regexp.MustCompile(`^(0\.\d+) (\S+) `)

func (scored) Scan(_ context.Context, t detect.Text) detect.Result {
	r := detect.Result{Complete: true, Detectors: []string{"scored"}}
	if m := scoredText.FindStringSubmatch(t.Text); m != nil {
		fmt.Sscan(m[1], &r.Score) //nolint:errcheck // the pattern says that it is a number
		if r.Score >= 0.5 {
			r.Findings = []gatehouse.Finding{{Kind: "injection", Type: "instruction", Detector: m[2], Score: r.Score, Start: 5, End: len(t.Text)}}
		}
	}
	if at := strings.Index(t.Text, "SECRET"); at >= 0 {
		r.Findings = append(r.Findings, gatehouse.Finding{Kind: "secret", Type: "key", Detector: "secrets/key", Start: at, End: at + 6})
	}
	return r
}

// panel is a model that gives one label, and keeps what it was shown.
type panel struct {
	label string
	mu    sync.Mutex
	shown []string
}

func (p *panel) Complete(_ context.Context, _, user string, _ int) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = append(p.shown, user)
	if p.label == "" {
		return "", errors.New("500")
	}
	nonce, _, _ := strings.Cut(strings.TrimPrefix(user, "BEGIN "), "\n")
	return `{"nonce":"` + nonce + `","label":"` + p.label + `"}`, nil
}

func judgedBy(t *testing.T, p *panel, texts ...gatehouse.Part) (gatehouse.Decision, *gatehouse.Exchange) {
	t.Helper()
	e, _ := observing(t)
	e.Scanner = scored{}
	s := *e.settings.Load()
	s.Protection, s.Judge = gatehouse.Enforce, judge.New(p, "m", time.Second)
	e.Use(&s)
	x := &gatehouse.Exchange{ID: "r", Time: time.Now(), Surface: "proxy", Agent: "mnm-a", Session: "s", Known: true}
	x.Ask(texts...)
	return e.Check(t.Context(), x, gatehouse.Front), x
}

func userText(text string) gatehouse.Part {
	return gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: text, Latest: true}
}

// The judge moves a text by one threshold at most, asks nothing about what is clear, and has no say over patterns.
func TestTheJudgeMovesAScoreByOneStep(t *testing.T) {
	const quarantined, wrapped, stopped, kept = "quarantined", "wrapped", "stopped", "kept"
	for _, c := range []struct {
		text, label, want string
		asked             bool
	}{
		{"0.20 linear/input a", "attack", kept, false},
		{"0.40 linear/input a", "attack", quarantined, true},
		{"0.40 linear/input a", "benign", kept, true},
		{"0.70 linear/input a", "attack", quarantined, true},
		{"0.70 linear/input a", "benign", kept, true},
		{"0.70 patterns/x a", "benign", wrapped, true},
		{"0.70 linear/input a", "unsure", wrapped, true},
		{"0.70 linear/input a", "", wrapped, true},
		{"0.85 linear/input a", "benign", wrapped, true},
		{"0.85 patterns/x a", "benign", quarantined, true},
		{"0.85 model/input a", "attack", stopped, true},
		{"0.97 linear/input a", "benign", stopped, false},
	} {
		p := &panel{label: c.label}
		d, x := judgedBy(t, p, userText(c.text))
		got := kept
		switch text := x.Request[0].Text; {
		case d.Stop:
			got = stopped
		case text == noticeQuarantined:
			got = quarantined
		case text != c.text:
			got = wrapped
		}
		if got != c.want || len(p.shown) > 0 != c.asked {
			t.Errorf("%s, %q: %s, asked %d times; want %s", c.text, c.label, got, len(p.shown), c.want)
		}
		answered := slices.Contains(d.Coverage[0].Detectors, "judge@m")
		silent := slices.ContainsFunc(d.Advisories, func(a gatehouse.Advisory) bool { return a.Source == "gatehouse.coverage" })
		if answered != (c.asked && c.label != "") || silent != (c.asked && c.label == "") {
			t.Errorf("%s, %q: coverage %v, advisories %v", c.text, c.label, d.Coverage, d.Advisories)
		}
	}
}

func TestTheJudgeSeesNoSecretsAndFewTexts(t *testing.T) {
	p := &panel{label: "benign"}
	var parts []gatehouse.Part
	for i := range 9 {
		parts = append(parts, userText(fmt.Sprintf("0.6%d linear/input text %d of SECRET", i, i)))
	}
	parts = append(parts, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: "0.40 linear/tool_result nowhere", Latest: true})
	judgedBy(t, p, parts...)
	if len(p.shown) != judgedMost {
		t.Errorf("asked %d times", len(p.shown))
	}
	for _, s := range p.shown {
		if strings.Contains(s, "SECRET ") || !strings.Contains(s, "REDACTED") || strings.Contains(s, "text 2 ") || strings.Contains(s, "nowhere") {
			t.Errorf("it was shown %s", s)
		}
	}
}

// Of a tool's result the judge lets the span be cut that was found, and spares it.
func TestTheJudgeOfAResult(t *testing.T) {
	for label, want := range map[string]bool{"attack": true, "benign": false, "unsure": false} {
		_, x := judgedBy(t, &panel{label: label}, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Text: "0.55 linear/tool_result payload", Latest: true})
		if got := !strings.Contains(x.Request[0].Text, "payload"); got != want {
			t.Errorf("%s: %q", label, x.Request[0].Text)
		}
	}
}
