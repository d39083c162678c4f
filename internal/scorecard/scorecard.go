// Package scorecard measures detection on labelled texts: what is caught at one false positive in a hundred, what is flagged in vain at
// the shipped thresholds, what is cut out of poisoned tool results, and how long it takes. Every share comes with its 95 % interval. It
// knows detectors by their results alone, and holds the texts it measures in memory.
package scorecard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// kinds are the kinds of text, in the order in which they are printed.
var kinds = []detect.Channel{detect.Input, detect.ToolResult}

// Dimensions are what tables can be made by, in the order in which they are printed.
func Dimensions() []string {
	return []string{"set", "source", "kind", "lang", "family", "carrier", "stage"}
}

// Run is one measurement.
type Run struct {
	Rows []Row
	// Spare are rows whose benign texts set the threshold of a kind of which Rows has no benign text.
	Spare []Row
	// Scanner is what is measured, and Stages parts of it that are measured by themselves as well.
	Scanner Scanner
	Stages  []Stage
	// Alone is the scanner on one core; nil: it uses no more anyway.
	Alone Scanner
	// Watched gives the scanner on one core that tells how long its stages took; nil: time is not measured.
	Watched func(watch func(stage string, took time.Duration)) Scanner
	// Thresholds are those that the gateway ships with.
	Thresholds Thresholds
	// By are some of [Dimensions].
	By []string
}

// Thresholds are injection scores from which on something happens.
type Thresholds struct {
	Warn       float64 `json:"warn"`
	Quarantine float64 `json:"quarantine"`
	Block      float64 `json:"block"`
}

// Stage is a part of the scanner.
type Stage struct {
	Name    string
	Scanner Scanner
}

// Scorecard is what was measured.
type Scorecard struct {
	Version    string     `json:"version"` // of the detectors
	Rows       int        `json:"rows"`
	Attacks    int        `json:"attacks"`
	Benign     int        `json:"benign"`
	Hard       int        `json:"hard"` // of the benign rows
	Thresholds Thresholds `json:"thresholds"`
	Limits     []Limit    `json:"limits"` // of each kind that has benign texts
	Tables     []Table    `json:"tables"`
	Times      *Times     `json:"times,omitempty"`
	Notes      []string   `json:"notes"` // what is to be known when the figures are read
}

// Table has one group for each value of a dimension.
type Table struct {
	By     string  `json:"by"`
	Groups []Group `json:"groups"`
}

// Measure scans all rows on all cores, and a second time on one for the time it takes. Its only error is that of the context.
func (r *Run) Measure(ctx context.Context) (*Scorecard, error) {
	judged, err := r.judged(ctx, r.Scanner)
	if err != nil {
		return nil, err
	}
	card := &Scorecard{Version: detect.FullVersion(), Rows: len(r.Rows), Thresholds: r.Thresholds, Limits: []Limit{}}
	for _, row := range r.Rows {
		switch {
		case row.Attack:
			card.Attacks++
		case row.Hard:
			card.Hard++
		}
	}
	card.Benign = card.Rows - card.Attacks
	for _, kind := range kinds {
		if b := judged.limits[kind]; b != nil {
			card.Limits = append(card.Limits, b.Limit)
		}
	}
	for _, by := range Dimensions() {
		switch {
		case !slices.Contains(r.By, by):
		case by == "stage":
			table, err := r.stages(ctx, judged)
			if err != nil {
				return nil, err
			}
			card.Tables = append(card.Tables, table)
		default:
			card.Tables = append(card.Tables, judged.table(by))
		}
	}
	card.Notes = judged.notes()
	if r.Watched != nil {
		card.Times, err = r.times(ctx)
	}
	return card, err
}

// judged are the rows, what one scanner makes of them, and the thresholds that follow.
type judged struct {
	rows       []Row
	verdicts   []verdict
	limits     limits
	thresholds Thresholds
}

func (r *Run) judged(ctx context.Context, s Scanner) (*judged, error) {
	verdicts, err := judge(ctx, s, r.Rows, r.Thresholds.Warn)
	if err != nil {
		return nil, err
	}
	spare, err := judge(ctx, s, r.Spare, r.Thresholds.Warn)
	if err != nil {
		return nil, err
	}
	return &judged{r.Rows, verdicts, limitsOf(r.Rows, verdicts, r.Spare, spare), r.Thresholds}, nil
}

// stages is the table of the stages by themselves, each with thresholds of its own, and of all together.
func (r *Run) stages(ctx context.Context, whole *judged) (Table, error) {
	table := Table{By: "stage"}
	for _, stage := range append(slices.Clone(r.Stages), Stage{Name: "all"}) {
		j := whole
		if stage.Scanner != nil {
			var err error
			if j, err = r.judged(ctx, stage.Scanner); err != nil {
				return table, err
			}
		}
		for _, g := range j.table("kind").Groups {
			g.Name, g.Kind = stage.Name, detect.Channel(g.Name)
			table.Groups = append(table.Groups, g)
		}
	}
	return table, nil
}

// notes say what the figures leave out.
func (j *judged) notes() []string {
	notes := []string{}
	attacks := map[detect.Channel]int{}
	lost, cut := 0, 0
	for i, row := range j.rows {
		if row.Attack {
			attacks[row.Text.Channel]++
		}
		if row.Lost {
			lost++
		}
		if !j.verdicts[i].complete {
			cut++
		}
	}
	for _, kind := range kinds {
		b := j.limits[kind]
		switch {
		case attacks[kind] == 0:
		case b == nil:
			notes = append(notes, fmt.Sprintf("%s: no benign texts, so no threshold: its %d attacks are in no recall at 1 %% FPR.", kind, attacks[kind]))
		case b.Reached.Of < 100:
			notes = append(notes, fmt.Sprintf("%s: fewer than 100 benign texts: the threshold is the highest of their scores.", kind))
		case b.Reached.Count < b.Reached.Of/100*9/10:
			notes = append(notes, fmt.Sprintf("%s: many benign texts share the score at the threshold: %d of %d are above it, not 1 %%.", kind, b.Reached.Count, b.Reached.Of))
		}
	}
	if lost > 0 {
		notes = append(notes, fmt.Sprintf("attacks whose payload does not stand in their text: %d. They are in no share of characters.", lost))
	}
	if cut > 0 {
		notes = append(notes, fmt.Sprintf("texts with more findings than one text may have: %d. Their ends were not scanned.", cut))
	}
	return notes
}
