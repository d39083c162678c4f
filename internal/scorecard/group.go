package scorecard

import (
	"maps"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// Group is what was measured on rows that have something in common. Recall and AUC judge each attack by the benign texts of its kind in
// all files, of the group or not.
type Group struct {
	Name    string         `json:"name"`           // empty: the rows do not say
	Kind    detect.Channel `json:"kind,omitempty"` // of a stage
	Attacks int            `json:"attacks"`
	Benign  int            `json:"benign"`

	Limit  *Limit  `json:"limit,omitempty"` // when all rows are of one kind
	Recall Share   `json:"recall"`          // attacks above the threshold at 1 % FPR
	AUC    float64 `json:"auc"`             // the chance that an attack scores above a benign text, ties counting half; 0 without attacks
	Caught Reached `json:"caught"`          // attacks, at the shipped thresholds

	Above       Share   `json:"above"`        // benign texts above the threshold at 1 % FPR
	False       Reached `json:"false"`        // benign texts, at the shipped thresholds
	Overdefence Share   `json:"over_defence"` // hard negatives that reach warn
	Repair      Repair  `json:"repair"`
}

// Reached are the shares of texts that reach the shipped thresholds.
type Reached struct {
	Warn       Share `json:"warn"`
	Quarantine Share `json:"quarantine"`
	Block      Share `json:"block"`
}

// Repair is what cutting does to tool results of which the payload is known.
type Repair struct {
	Cut          Portion `json:"cut"`  // of the payloads' characters
	Kept         Portion `json:"kept"` // of all other characters
	CutDetected  Portion `json:"cut_detected"`
	KeptDetected Portion `json:"kept_detected"`
	Withheld     int     `json:"withheld"` // nothing but payload was left, so that the whole went
	JSON         Share   `json:"json"`     // of the JSON documents that were cut: still valid
	HTML         Share   `json:"html"`     // of the texts with tags that were cut: no more tags without a partner than before
}

// table groups the rows by a dimension, the groups in order of their names.
func (j *judged) table(by string) Table {
	value := dimension(by)
	members := map[string][]int{}
	for i, row := range j.rows {
		name := value(row)
		members[name] = append(members[name], i)
	}
	table := Table{By: by}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		table.Groups = append(table.Groups, j.group(name, members[name]))
	}
	return table
}

// dimension is what a row is grouped by.
func dimension(by string) func(Row) string {
	switch by {
	case "set":
		return func(r Row) string { return r.Set }
	case "source":
		return func(r Row) string { return r.Source }
	case "lang":
		return func(r Row) string { return r.Lang }
	case "family":
		return func(r Row) string { return r.Family }
	case "carrier":
		return func(r Row) string { return r.Carrier }
	}
	return func(r Row) string { return string(r.Text.Channel) }
}

// group measures some of the rows.
func (j *judged) group(name string, members []int) Group {
	g := Group{Name: name}
	var recall, above, hard tally
	var caught, wrong reached
	var auc float64
	var repairs repairs
	seen := map[detect.Channel]bool{}
	for _, i := range members {
		row, v := j.rows[i], j.verdicts[i]
		b := j.limits[row.Text.Channel]
		seen[row.Text.Channel] = true
		if v.repair != nil {
			repairs.add(*v.repair)
		}
		if row.Attack {
			g.Attacks++
			caught.add(v.score, j)
			if b != nil {
				recall.add(v.score > b.Threshold)
				auc += b.below(v.score)
			}
			continue
		}
		g.Benign++
		wrong.add(v.score, j)
		above.add(v.score > b.Threshold)
		if row.Hard {
			hard.add(v.score >= j.thresholds.Warn)
		}
	}
	g.Recall, g.Above, g.Overdefence = recall.share(), above.share(), hard.share()
	g.Caught, g.False, g.Repair = caught.result(), wrong.result(), repairs.result()
	if recall.of > 0 {
		g.AUC = auc / float64(recall.of)
	}
	for kind := range seen {
		if b := j.limits[kind]; len(seen) == 1 && b != nil {
			g.Limit = &b.Limit
		}
	}
	return g
}

// tally counts documents.
type tally struct{ count, of int }

func (t *tally) add(yes bool) {
	t.of++
	if yes {
		t.count++
	}
}

func (t tally) share() Share { return ShareOf(t.count, t.of) }

// reached counts documents at each shipped threshold.
type reached struct{ warn, quarantine, block tally }

func (r *reached) add(score float64, j *judged) {
	r.warn.add(score >= j.thresholds.Warn)
	r.quarantine.add(score >= j.thresholds.Quarantine)
	r.block.add(score >= j.thresholds.Block)
}

func (r reached) result() Reached {
	return Reached{r.warn.share(), r.quarantine.share(), r.block.share()}
}

// repairs sums up what was cut.
type repairs struct {
	cut, kept, cutDetected, keptDetected portion
	withheld                             int
	json, html                           tally
}

func (s *repairs) add(r repair) {
	s.cut.add(r.cut, r.payload)
	s.kept.add(r.kept, r.rest)
	if r.detected {
		s.cutDetected.add(r.cut, r.payload)
		s.keptDetected.add(r.kept, r.rest)
	}
	if r.withheld {
		s.withheld++
	}
	if r.json.before {
		s.json.add(r.json.after)
	}
	if r.html.before {
		s.html.add(r.html.after)
	}
}

func (s *repairs) result() Repair {
	return Repair{
		Cut: s.cut.result(), Kept: s.kept.result(), CutDetected: s.cutDetected.result(), KeptDetected: s.keptDetected.result(),
		Withheld: s.withheld, JSON: s.json.share(), HTML: s.html.share(),
	}
}
