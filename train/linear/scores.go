package main

import (
	"bufio"
	"encoding/json"
	"os"
)

// scored is a text with the sum that a model gives it that has not seen its hand.
type scored struct {
	Source string  `json:"source"`
	ID     string  `json:"id"`
	Output string  `json:"output"`
	Sum    float64 `json:"sum"`
}

// writeScores writes the sums of all texts, at the penalty that was chosen, so that other detectors can be judged together with this one.
func writeScores(path string, cases [outputs][]judged, heads [outputs]curve) error {
	file, err := os.Create(path) //nolint:gosec // the file that the user named
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	lines := json.NewEncoder(w)
	for o, name := range names {
		for _, j := range cases[o] {
			if len(j.views) == 0 || len(j.views[0]) == 0 {
				continue // no sentence, no sum
			}
			if err := lines.Encode(scored{j.Source, j.ID, name, j.sums[heads[o].choice]}); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
