package scorecard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// Row is one labelled text.
type Row struct {
	Text   detect.Text
	Attack bool
	// Hard marks a benign text that looks like an attack: trigger words, or the twin of an attack.
	Hard bool
	// Set is the name of the file without its extension. The others are empty where the row does not say.
	Set, Source, Lang, Family, Carrier string
	// Payload are the bytes of the text that should be cut out, in order and apart; empty where nobody said or where what
	// the row names does not stand in the text, which Lost tells.
	Payload []Span
	Lost    bool
}

// maxRow bounds a row, in bytes, as the default limits.body bounds a request.
const maxRow = 32 << 20

// Read gives add the rows of a file of JSON lines, in order. Errors name the file and the line and quote neither.
func Read(path string, add func(Row)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	set := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxRow)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		r, err := parse(text, set)
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		add(r)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s: line %d: longer than 32 MiB", path, n+1)
	} else if err != nil {
		return err
	}
	return nil
}

// line is a row as files have it; several data sets call one thing by two names.
type line struct {
	Text      *string         `json:"text"`
	Label     *int            `json:"label"`
	Kind      string          `json:"kind"`
	Tool      string          `json:"tool"`
	Source    string          `json:"source"`
	Lang      string          `json:"lang"`
	Family    string          `json:"family"`
	Attack    string          `json:"attack_type"`
	Carrier   string          `json:"carrier"`
	Container string          `json:"container"`
	Payload   string          `json:"payload"`
	Goal      string          `json:"injected_goal"`
	Spans     json.RawMessage `json:"spans"`
	Hard      *bool           `json:"hard"`
	Twin      json.RawMessage `json:"twin_of"`
}

func parse(text []byte, set string) (Row, error) {
	var l line
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &l); errors.As(err, &wrong) && wrong.Field != "" {
		return Row{}, fmt.Errorf("%s is of the wrong type", wrong.Field)
	} else if err != nil {
		return Row{}, errors.New("not a JSON object") // the reader's own words quote the text
	}
	switch {
	case l.Text == nil:
		return Row{}, errors.New("text is missing")
	case l.Label == nil || *l.Label != 0 && *l.Label != 1:
		return Row{}, errors.New("label is neither 0 nor 1")
	}
	kind := detect.Channel(first(l.Kind, string(detect.Input)))
	if kind != detect.Input && kind != detect.ToolResult {
		return Row{}, errors.New("kind is neither input nor tool_result")
	}
	r := Row{
		Text:   detect.Text{Channel: kind, Tool: l.Tool, Text: *l.Text},
		Attack: *l.Label == 1, Set: set, Source: l.Source, Lang: l.Lang,
		Family: first(l.Family, l.Attack), Carrier: first(l.Carrier, l.Container),
	}
	if !r.Attack {
		r.Hard = l.hard(set)
		return r, nil
	}
	var err error
	r.Payload, err = spans(*l.Text, l.Spans)
	if payload := first(l.Payload, l.Goal); err == nil && len(r.Payload) == 0 && payload != "" {
		r.Payload = locate(*l.Text, payload)
		r.Lost = len(r.Payload) == 0
	}
	return r, err
}

// hardWords in the names that a row goes by say that a benign text was made to look like an attack.
var hardWords = []string{"hard_negative", "trigger", "lookalike", "look_alike", "overdefen", "over_defen"}

// hard is what the row says of itself; when it says nothing, the twins of attacks are hard, and rows whose family, attack type,
// source or file has one of the words in its name.
func (l *line) hard(set string) bool {
	if l.Hard != nil {
		return *l.Hard
	}
	if len(l.Twin) > 0 && !bytes.Equal(l.Twin, []byte("null")) && !bytes.Equal(l.Twin, []byte(`""`)) {
		return true
	}
	names := strings.ToLower(strings.Join([]string{l.Family, l.Attack, l.Source, set}, "\n"))
	names = strings.NewReplacer(" ", "_", "-", "_").Replace(names)
	for _, word := range hardWords {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

// first is the first of the texts that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
