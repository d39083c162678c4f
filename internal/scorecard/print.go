package scorecard

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Print writes the scorecard for people.
func (s *Scorecard) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d rows: %d attacks, %d benign, of which %d hard negatives; detectors %s\n", s.Rows, s.Attacks, s.Benign, s.Hard, s.Version)
	if len(s.Limits) > 0 {
		t := newSheet(w, "\nthresholds at 1 % FPR", "KIND", "BENIGN", "THRESHOLD", "FPR REACHED")
		for _, l := range s.Limits {
			from := fmt.Sprint(l.Reached.Of)
			if l.Borrowed {
				from += " (--threshold-from)"
			}
			t.row(string(l.Kind), from, fmt.Sprintf("%.4f", l.Threshold), percent(l.Reached))
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	for _, table := range s.Tables {
		if err := s.printTable(w, table); err != nil {
			return err
		}
	}
	if s.Times != nil {
		if err := s.Times.print(w); err != nil {
			return err
		}
	}
	for _, n := range s.Notes {
		if _, err := fmt.Fprintf(w, "\nnote: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}

// printTable writes three tables: what is caught, what is flagged in vain, and what is cut.
func (s *Scorecard) printTable(w io.Writer, table Table) error {
	for _, part := range []func(io.Writer, Table) error{s.printAttacks, s.printBenign, s.printRepair} {
		if err := part(w, table); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scorecard) printAttacks(w io.Writer, table Table) error {
	heads := append([]string{head(table), "ATTACKS", "THRESHOLD", "RECALL AT 1 % FPR", "AUC"}, s.shipped()...)
	lines := newSheet(w, "\nattacks by "+table.By, heads...)
	for _, g := range table.Groups {
		if g.Attacks == 0 {
			continue
		}
		limit, auc := "-", "-"
		if g.Limit != nil {
			limit = fmt.Sprintf("%.4f", g.Limit.Threshold)
		}
		if g.Recall.Of > 0 {
			auc = fmt.Sprintf("%.3f", g.AUC)
		}
		lines.row(label(g), fmt.Sprint(g.Attacks), limit, percent(g.Recall), auc, percent(g.Caught.Warn), percent(g.Caught.Quarantine), percent(g.Caught.Block))
	}
	return lines.end()
}

func (s *Scorecard) printBenign(w io.Writer, table Table) error {
	heads := append([]string{head(table), "BENIGN", "ABOVE 1 % FPR"}, s.shipped()...)
	lines := newSheet(w, "\nfalse positives by "+table.By+", of 1,000 benign texts", append(heads, "HARD", "OVER-DEFENCE")...)
	for _, g := range table.Groups {
		if g.Benign > 0 {
			lines.row(label(g), fmt.Sprint(g.Benign), perMille(g.Above), perMille(g.False.Warn), perMille(g.False.Quarantine), perMille(g.False.Block),
				fmt.Sprint(g.Overdefence.Of), percent(g.Overdefence))
		}
	}
	return lines.end()
}

func (s *Scorecard) printRepair(w io.Writer, table Table) error {
	lines := newSheet(w, "\nwhat is cut out of tool results, by "+table.By, head(table), "ROWS", "PAYLOAD CUT", "REST KEPT",
		"DETECTED", "PAYLOAD CUT", "REST KEPT", "WITHHELD", "STILL JSON", "STILL HTML")
	for _, g := range table.Groups {
		if r := g.Repair; r.Cut.Rows > 0 {
			lines.row(label(g), fmt.Sprint(r.Cut.Rows), portionCell(r.Cut), portionCell(r.Kept), fmt.Sprint(r.CutDetected.Rows), portionCell(r.CutDetected),
				portionCell(r.KeptDetected), fmt.Sprint(r.Withheld), counted(r.JSON), counted(r.HTML))
		}
	}
	return lines.end()
}

// shipped are the heads of the columns for the shipped thresholds.
func (s *Scorecard) shipped() []string {
	t := s.Thresholds
	return []string{fmt.Sprintf("WARN %.2f", t.Warn), fmt.Sprintf("QUARANTINE %.2f", t.Quarantine), fmt.Sprintf("BLOCK %.2f", t.Block)}
}

func (t *Times) print(w io.Writer) error {
	whole := newSheet(w, "\ntime of whole scans", "SIZE", "TEXTS", "ONE CORE µs P50", "µs P99", "µs/KiB P50", "µs/KiB P99",
		fmt.Sprintf("OF %d, WALL µs P50", t.Cores), "µs P99")
	heads := []string{"STAGE", "SHARE"}
	for _, s := range t.Sizes {
		heads = append(heads, s.Size)
		if s.Texts > 0 {
			whole.row(s.Size, fmt.Sprint(s.Texts), tenths(s.Scan.P50), tenths(s.Scan.P99), tenths(s.PerKiB.P50), tenths(s.PerKiB.P99),
				tenths(s.Wall.P50), tenths(s.Wall.P99))
		}
	}
	if err := whole.end(); err != nil {
		return err
	}
	stages := newSheet(w, "\ntime of each stage, µs/KiB P50 / P99", heads...)
	for _, s := range t.Stages {
		cells := []string{s.Stage, fmt.Sprintf("%.1f %%", 100*s.Share)}
		for i, p := range s.Sizes {
			cell := "-"
			if t.Sizes[i].Texts > 0 {
				cell = tenths(p.P50) + " / " + tenths(p.P99)
			}
			cells = append(cells, cell)
		}
		stages.row(cells...)
	}
	return stages.end()
}

// sheet is a table whose head is written with its first row.
type sheet struct {
	title string
	heads []string
	out   io.Writer
	lines *tabwriter.Writer
}

func newSheet(w io.Writer, title string, heads ...string) *sheet {
	return &sheet{title: title, heads: heads, out: w}
}

func (s *sheet) row(cells ...string) {
	if s.lines == nil {
		fmt.Fprintln(s.out, s.title)
		s.lines = tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(s.lines, strings.Join(s.heads, "\t"))
	}
	fmt.Fprintln(s.lines, strings.Join(cells, "\t"))
}

func (s *sheet) end() error {
	if s.lines == nil {
		return nil
	}
	return s.lines.Flush()
}

func head(t Table) string { return strings.ToUpper(t.By) }

// label names a group; its name may come from outside.
func label(g Group) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, first(g.Name, "-"))
	if g.Kind != "" {
		name += ", " + string(g.Kind)
	}
	return name
}

func percent(s Share) string {
	if s.Of == 0 {
		return "-"
	}
	return interval(s.Share, s.Low, s.High)
}

func portionCell(p Portion) string {
	if p.Of == 0 {
		return "-"
	}
	return interval(p.Share, p.Low, p.High)
}

func interval(share, low, high float64) string {
	return fmt.Sprintf("%.1f %% (%.1f–%.1f)", 100*share, 100*low, 100*high)
}

// perMille is a share of a thousand and the upper end of its interval.
func perMille(s Share) string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f (≤ %.1f)", 1000*s.Share, 1000*s.High)
}

func counted(s Share) string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", s.Count, s.Of)
}

func tenths(x float64) string { return fmt.Sprintf("%.1f", x) }
