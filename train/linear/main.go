// Command linear trains the linear detector, gives its sums their scores, and judges it on what it has not seen:
//
//	go run ./train/linear -weights internal/detect/weights PATH…
//	go run ./train/linear -report train/REPORT.md PATH…
//
// PATHs are files and folders of labelled texts; train/README.md says which. The same texts and seed give the same weights.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/train/rows"
)

// chosen are the settings that did best on left-out hands.
var chosen = settings{Epochs: 12, Rate: 0.2, Shrink: 0.85, Hands: 2, Kept: 180_000, Seed: 1}

func main() {
	weights := flag.String("weights", "", "folder to write the weights to")
	scores := flag.String("scores", "", "file to write the sums to that models give to texts that they have not seen, as JSON lines")
	report := flag.String("report", "", "file to write the report to")
	folds := flag.Int("folds", 10, "folds that hands are spread over")
	only := flag.String("only", "", "outputs to train and to report, with commas between; the weights of the others stay as the folder has them")
	sample := flag.Int("sample", 1, "take one of so many rows of the large benign corpora")
	flag.Parse()
	if err := run(*weights, *report, *scores, *only, *folds, *sample, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(weights, report, scores, only string, folds, sample int, paths []string) error {
	wanted, err := parse(only)
	if err != nil {
		return err
	}
	all, err := rows.Read(paths...)
	if err != nil {
		return err
	}
	all = rows.Usable(all, sample)
	texts := bags(all)
	features := number(texts, chosen.Hands)
	log.Printf("%d texts, %d features", len(texts), len(features.hashes))
	var cases [outputs][]judged
	var heads [outputs]curve
	for _, o := range wanted {
		name := names[o]
		cases[o] = outOfFold(texts, len(features.hashes), o, byHand, folds)
		heads[o] = calibrate(cases[o], o)
		log.Printf("%s: judged %d texts by models that have not seen their hands, penalty %.2f", name, len(cases[o]), heads[o].penalty)
	}
	if scores != "" {
		if err := writeScores(scores, cases, heads); err != nil {
			return err
		}
	}
	if weights != "" {
		if err := export(weights, texts, features, heads, wanted); err != nil {
			return err
		}
	}
	if report == "" {
		return nil
	}
	file, err := os.Create(report) //nolint:gosec // the file that the user named
	if err != nil {
		return err
	}
	defer file.Close()
	r := reporter{w: file, texts: texts, features: len(features.hashes), folds: folds, heads: heads}
	r.write(cases, wanted)
	return file.Close()
}

// parse reads the names of outputs: all of them where none is named.
func parse(only string) ([]int, error) {
	if only == "" {
		return []int{tool, user, jail}, nil
	}
	var wanted []int
	for name := range strings.SplitSeq(only, ",") {
		o := slices.Index(names[:], name)
		if o < 0 {
			return nil, fmt.Errorf("no output is named %q: there are %s", name, strings.Join(names[:], ", "))
		}
		wanted = append(wanted, o)
	}
	slices.Sort(wanted)
	return slices.Compact(wanted), nil
}

func byHand(b *bag) string { return b.Hand }

// native reports whether a text is of the kind that an output is for.
func (b *bag) native(output int) bool { return (b.Kind == "input") == (output != tool) }

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
}
