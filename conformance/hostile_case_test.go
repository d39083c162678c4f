package conformance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// hostileCase is a case of hostile/: what a client or a model sends that it should not, and what must come of it. README.md
// describes the format.
type hostileCase struct {
	name    string
	on, not []string // prefixes of the surfaces; none in on: everywhere
	config  []byte
	request string // of the client; empty: a good one
	answer  string // of the model; empty: a good one
	want    map[string][]byte
}

// hostileWant is what must come of it. What is left out is wanted to be absent.
type hostileWant struct {
	Status    int      `json:"status"`    // 0: the connection closes without an answer
	Error     string   `json:"error"`     // code of the error that the client gets
	Native    bool     `json:"native"`    // the error is in the native API's words: no door was found
	Recorded  string   `json:"recorded"`  // code in the record; left out: that of the answer; -: none
	Bare      bool     `json:"bare"`      // it is no HTTP: the server refuses it before a handler could, without the header surface
	Stored    int      `json:"stored"`    // status in the record; left out: that of the answer
	Called    bool     `json:"called"`    // the request reached the model
	Unchanged bool     `json:"unchanged"` // as it was sent, but for its coding
	Sent      []string `json:"sent"`      // texts in the request that reached the model, its head included; with ! in front: not in it
	Said      []string `json:"said"`      // texts in the answer, its head included; with ! in front: not in it
	Cut       bool     `json:"cut"`       // the answer breaks off
	Verdict   string   `json:"verdict"`   // left out: all pass
	Then      int      `json:"then"`      // status of a second answer, to what stands behind the request
}

func loadHostile(t *testing.T) []*hostileCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("hostile", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []*hostileCase
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, parseHostile(t, strings.TrimSuffix(filepath.Base(file), ".txtar"), src))
	}
	return cases
}

func parseHostile(t *testing.T, name string, src []byte) *hostileCase {
	t.Helper()
	a, c := txtar.Parse(src), &hostileCase{name: name, want: map[string][]byte{}}
	for i, line := range strings.Split(strings.TrimSpace(string(a.Comment)), "\n") {
		word, rest, _ := strings.Cut(line, ": ")
		switch {
		case i == 0 && line == "":
			t.Errorf("%s: says not what it is about", name)
		case word == "on":
			c.on = strings.Fields(rest)
		case word == "not":
			c.not = strings.Fields(rest)
		}
	}
	for _, f := range a.Files {
		switch over, isWant := strings.CutSuffix(f.Name, "want.json"); {
		case f.Name == "config.yaml":
			c.config = f.Data
		case f.Name == "request":
			c.request = string(f.Data)
		case f.Name == "answer":
			c.answer = string(f.Data)
		case isWant:
			c.want[strings.TrimSuffix(over, "/")] = f.Data
		default:
			t.Errorf("%s: a case has no file %s", name, f.Name)
		}
	}
	if c.want[""] == nil {
		t.Errorf("%s: wants nothing", name)
	}
	return c
}

// plays reports whether the case says something about a surface: what is about models says nothing about one that has none.
func (c *hostileCase) plays(s target) bool {
	if c.answer != "" && s.model == nil {
		return false
	}
	return (len(c.on) == 0 || c.among(c.on, s)) && !c.among(c.not, s)
}

func (c *hostileCase) among(list []string, s target) bool {
	return names(list, s.name) || slices.ContainsFunc(strings.Split(s.name, "/"), func(word string) bool { return slices.Contains(list, word) })
}

// wanted is what the case wants on a surface: its want.json, and over it those of the words of the surface's name, in their order.
func (c *hostileCase) wanted(t *testing.T, s target) hostileWant {
	t.Helper()
	w := hostileWant{Verdict: "front=pass; autonomy=pass; integrity=pass; back=pass"}
	decode(t, c.name, "want.json", c.want[""], &w)
	words := strings.Split(s.name, "/")
	for i, word := range words {
		over := []string{word}
		if i > 0 {
			over = append(over, strings.Join(words[:i+1], "/"))
		}
		for _, name := range over {
			if doc := c.want[name]; doc != nil {
				decode(t, c.name, name+"/want.json", doc, &w)
			}
		}
	}
	switch w.Recorded {
	case "":
		w.Recorded = w.Error
	case "-":
		w.Recorded = ""
	}
	if w.Stored == 0 {
		w.Stored = w.Status
	}
	return w
}
