package traces_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is what a trace stands for.
type kind string

const (
	benign kind = "benign"
	attack kind = "attack"
)

var domains = []string{"mail", "banking", "files", "travel", "code", "chat"}

// trace is what an agent did for one request of its user. README.md describes its members.
type trace struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
	Kind   kind   `json:"kind"`
	Lang   string `json:"lang"`
	User   string `json:"user"`
	System string `json:"system"`
	Steps  []step `json:"steps"`
	Note   string `json:"note"`
}

// step is one call and what it returned.
type step struct {
	Call    call            `json:"call"`
	Result  json.RawMessage `json:"result"`
	Attack  bool            `json:"attack"`
	Payload string          `json:"payload"`
	Key     string          `json:"key"`
}

type call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// load reads the traces of a directory, in the order of their names.
func load(dir string) ([]trace, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []trace
	for _, name := range names {
		doc, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var t trace
		dec := json.NewDecoder(bytes.NewReader(doc))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := t.check(strings.TrimSuffix(filepath.Base(name), ".json")); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no traces", dir)
	}
	return all, nil
}

// check holds a trace to the form that README.md promises, so that a slip of the pen is not taken for a figure.
func (t trace) check(name string) error {
	switch {
	case t.ID != name:
		return fmt.Errorf("id is %q", t.ID)
	case !slices.Contains(domains, t.Domain):
		return fmt.Errorf("domain is %q", t.Domain)
	case t.Kind != benign && t.Kind != attack:
		return fmt.Errorf("kind is %q", t.Kind)
	case t.User == "" || t.Lang == "" || t.Note == "" || len(t.Steps) == 0:
		return errors.New("user, lang, note and steps must be given")
	}
	injected, attacked := false, false
	for i, s := range t.Steps {
		if err := s.check(i == len(t.Steps)-1); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if s.Attack && !injected {
			return fmt.Errorf("step %d: an attack before any payload", i+1)
		}
		injected, attacked = injected || s.Payload != "", attacked || s.Attack
	}
	if injected != (t.Kind == attack) || attacked != (t.Kind == attack) {
		return errors.New("an attack has payloads and calls with attack: true, a benign trace has neither")
	}
	return nil
}

func (s step) check(last bool) error {
	var arguments map[string]any
	if err := json.Unmarshal(s.Call.Arguments, &arguments); err != nil || s.Call.Tool == "" {
		return errors.New("call must have a tool and arguments, an object")
	}
	if len(s.Result) == 0 && !last {
		return errors.New("result is missing")
	}
	if s.Payload == "" {
		if s.Key != "" {
			return errors.New("a key without a payload")
		}
		return nil
	}
	said := textOf(s.Result)
	switch {
	case !strings.Contains(said, s.Payload):
		return errors.New("the payload is not in the result")
	case s.Key == "" || !strings.Contains(s.Payload, s.Key):
		return errors.New("the key is not in the payload")
	case strings.Count(said, s.Key) != strings.Count(s.Payload, s.Key)*strings.Count(said, s.Payload):
		return errors.New("the key stands outside the payload, too")
	}
	return nil
}

// textOf is what a result says: a string as it stands, or every key and scalar of a JSON value, a line each.
func textOf(result json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(result))
	dec.UseNumber()
	var lines []string
	for {
		token, err := dec.Token()
		if err != nil {
			return strings.Join(lines, "\n")
		}
		switch token := token.(type) {
		case string:
			lines = append(lines, token)
		case json.Number:
			lines = append(lines, token.String())
		}
	}
}
