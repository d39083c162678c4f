package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What stands around a payload and its twin in a hand's file.
const (
	opening = "⟦"
	closing = "⟧"
)

var (
	blockTypes = []string{"pair", "attack", "benign"}
	kinds      = []string{"tool_result", "input"}
)

// readHand reads the blocks of one hand; train/hands/README.md has the format. All that is wrong is reported, not the first alone.
func readHand(path string) ([]Row, error) {
	doc, err := os.ReadFile(path) //nolint:gosec // the file that the user named
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".txt")
	var rows []Row
	var wrong []error
	lines := strings.Split(string(doc), "\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "== ") {
			if strings.TrimSpace(lines[i]) != "" && len(rows) == 0 {
				wrong = append(wrong, fmt.Errorf("line %d: text before the first block", i+1))
			}
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "== ") {
			end++
		}
		made, err := block(name, i+1, lines[i], strings.Trim(strings.Join(lines[i+1:end], "\n"), "\n"))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", i+1, err))
		}
		rows = append(rows, made...)
		i = end
	}
	return rows, errors.Join(wrong...)
}

// block is the rows of one block.
func block(hand string, line int, head, text string) ([]Row, error) {
	words := strings.Fields(head)[1:]
	if len(words) != 5 || !slices.Contains(blockTypes, words[0]) || !slices.Contains(kinds, words[1]) {
		return nil, fmt.Errorf("%q is no TYPE KIND LANG CARRIER FAMILY", head)
	}
	if text == "" {
		return nil, errors.New("no text")
	}
	attack, err := cut(text)
	if err != nil {
		return nil, err
	}
	row := Row{
		ID: fmt.Sprintf("%s-%d", hand, line), Kind: words[1], Lang: words[2], Carrier: words[3], Family: words[4],
		Source: "hand/" + hand, Hand: "hand/" + hand, Licence: "CC0",
	}
	twin := row
	row.Label, row.Text, row.Spans = 1, attack.text, attack.spans
	twin.ID, twin.Text = row.ID+"t", attack.twin
	switch {
	case words[0] == "benign" && len(attack.spans) > 0, words[0] == "pair" && len(attack.spans) == 0:
		return nil, fmt.Errorf("%d payloads in a %s", len(attack.spans), words[0])
	case words[0] == "benign":
		twin.ID = row.ID
		return []Row{twin}, nil
	case words[0] == "attack":
		if len(row.Spans) == 0 {
			row.Spans = [][2]int{{0, len(row.Text)}}
		}
		return []Row{row}, valid(row)
	}
	twin.Twin = row.ID
	return []Row{row, twin}, errors.Join(valid(row), valid(twin))
}

// valid reports JSON that is none.
func valid(r Row) error {
	if r.Carrier == "json" && strings.HasPrefix(r.Text, "{") != json.Valid([]byte(r.Text)) && !jsonLines(r.Text) {
		return fmt.Errorf("%s (label %d): not valid JSON", r.ID, r.Label)
	}
	return nil
}

func jsonLines(text string) bool {
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			return false
		}
	}
	return true
}

// halves are a text with its payloads, and with their twins in their place.
type halves struct {
	text, twin string
	spans      [][2]int
}

func cut(text string) (halves, error) {
	var h halves
	var attack, twin strings.Builder
	for {
		before, rest, found := strings.Cut(text, opening)
		attack.WriteString(before)
		twin.WriteString(before)
		if !found {
			break
		}
		payload, rest, closed := strings.Cut(rest, closing)
		if !closed || strings.Contains(payload, opening) {
			return h, errors.New("a bracket is not closed")
		}
		h.spans = append(h.spans, [2]int{attack.Len(), attack.Len() + len(payload)})
		attack.WriteString(payload)
		if other, ok := strings.CutPrefix(rest, opening); ok {
			legitimate, after, closed := strings.Cut(other, closing)
			if !closed {
				return h, errors.New("the bracket of a twin is not closed")
			}
			twin.WriteString(legitimate)
			rest = after
		}
		text = rest
	}
	h.text, h.twin = attack.String(), twin.String()
	if strings.Contains(h.text, closing) {
		return h, errors.New("a closing bracket without an opening one")
	}
	return h, nil
}
