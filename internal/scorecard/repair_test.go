package scorecard

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// poisoned is a text in which ⟦…⟧ is the payload and «…» what a detector found; they may overlap.
func poisoned(text string, score float64) (Row, detect.Result) {
	row := Row{Attack: true, Text: detect.Text{Channel: detect.ToolResult}}
	var plain strings.Builder
	var r detect.Result
	payload, found := 0, 0
	for _, c := range text {
		switch c {
		case '⟦':
			payload = plain.Len()
		case '⟧':
			row.Payload = append(row.Payload, Span{payload, plain.Len()})
		case '«':
			found = plain.Len()
		case '»':
			r.Findings = append(r.Findings, gatehouse.Finding{Kind: "injection", Score: score, Start: found, End: plain.Len()})
		default:
			plain.WriteRune(c)
		}
	}
	row.Text.Text, r.Score = plain.String(), score
	return row, r
}

func TestRepaired(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		score float64
		want  repair
	}{
		"nothing found":        {"ab ⟦cdé⟧ fg", 0.59, repair{payload: 3, rest: 6, kept: 6}},
		"below warn":           {"ab «⟦cdé⟧» fg", 0.59, repair{payload: 3, rest: 6, kept: 6}},
		"all of it":            {"ab «⟦cdé⟧» fg", 0.6, repair{payload: 3, cut: 3, rest: 6, kept: 6, detected: true}},
		"half, and a rest":     {"ab ⟦cd«é⟧ f»g", 0.9, repair{payload: 3, cut: 1, rest: 6, kept: 4, detected: true}},
		"two payloads":         {"«⟦ab⟧» c ⟦de⟧", 0.9, repair{payload: 4, cut: 2, rest: 3, kept: 3, detected: true}},
		"nothing else is left": {" «⟦ab⟧»!", 0.9, repair{payload: 2, cut: 2, rest: 2, detected: true, withheld: true}},
		"JSON stays":           {`{"k":"a «⟦b⟧»"}`, 0.9, repair{payload: 1, cut: 1, rest: 10, kept: 10, detected: true, json: form{true, true}}},
		"JSON names stay":      {`{"k«":"⟦b⟧","»l":2}`, 0.9, repair{payload: 1, cut: 1, rest: 14, kept: 14, detected: true, json: form{true, true}}},
		"tags stay":            {"<p>a «⟦b⟧»</p>", 0.9, repair{payload: 1, cut: 1, rest: 9, kept: 9, detected: true, html: form{true, true}}},
		"the payload's own tags do not make it HTML": {"a ⟦«<b>c»</b>⟧", 0.9, repair{payload: 8, cut: 4, rest: 2, kept: 2, detected: true}},
		"a tag of the payload stays":                 {"<p>⟦«<b>c»</b>⟧</p>", 0.9, repair{payload: 8, cut: 4, rest: 7, kept: 7, detected: true, html: form{true, false}}},
		"a tag goes":                                 {"<p>a «⟦b⟧</p>»", 0.9, repair{payload: 1, cut: 1, rest: 9, kept: 5, detected: true, html: form{true, false}}},
	} {
		row, r := poisoned(c.text, c.score)
		if got := repaired(row, r, 0.6); got != c.want {
			t.Errorf("%s: got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestBalance(t *testing.T) {
	for text, want := range map[string][2]int{
		"a < b, b > c":                             {0, 0},
		"<p>a<br>b<img src=x/></P>":                {0, 1},
		"<div><p></div>":                           {1, 1},
		"</p><p>":                                  {2, 0},
		"<a\nhref='x'>b</a >":                      {0, 1},
		"<!-- <p> -->":                             {0, 0},
		"<p><!-- </p>":                             {1, 0},
		"<script>if (a < b) { '<p>' }</script>":    {0, 1},
		"<script>'</p>'":                           {1, 0},
		"<p>a</p":                                  {1, 0},
		"List<String> x; vector<int>":              {2, 0},
		"<?xml version='1.0'?><!DOCTYPE x><x></x>": {0, 1},
	} {
		if alone, pairs := balance(text); [2]int{alone, pairs} != want {
			t.Errorf("%s: got %d alone and %d pairs, want %v", text, alone, pairs, want)
		}
	}
}

func TestBalanceIsLinear(t *testing.T) {
	for _, unit := range []string{"<", "<a ", "<a \"", "<a>", "</", "<!--", "<script>", "<script></", "<a<", strings.Repeat("a", 100) + "<"} {
		began := time.Now()
		balance(strings.Repeat(unit, (4<<20)/len(unit)))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
	}
}
