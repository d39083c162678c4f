package conformance_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// formats are the provider formats that a case may say something of its own for.
var formats = [...]string{"openai", "anthropic", "gemini", "responses", "completions", "sdk"}

// token is a secret that a detector knows, for $TOKEN. It is put together here so that no file of the repository holds one.
const token = "gh" + "p_" + "R4nD0mW1kX9vB3nM7qT2sY5uZ8aC6dE0fGhJ"

// testcase is one case file. README.md describes the format.
type testcase struct {
	name   string
	doors  []string // prefixes of the surfaces that it runs on; none: all
	except []string // prefixes of those that it does not run on
	also   []string // prefixes of narrow surfaces that it runs on, too
	skip   string   // why it does not run
	panics string   // detectors panic on a text that holds this
	config []byte
	turns  []turn
}

// turn is one exchange of a case.
type turn struct {
	conversation conversation
	model        model
	want         map[string]want              // by format
	raw          map[string]map[string][]byte // format → request.json, response.json, response.sse
	later        bool                         // not the first: what was edited then is edited again without a word
}

// conversation is what the agent sends. In a later turn its messages follow what was said before.
type conversation struct {
	Session    string    `json:"session"` // for X-Mnemom-Session; empty: not sent
	System     string    `json:"system"`
	Messages   []message `json:"messages"`
	Tools      []tool    `json:"tools"`
	N          int       `json:"n"`
	Structured bool      `json:"structured"` // the answer shall follow a schema
	Resent     bool      `json:"resent"`     // a later turn: the messages stand alone, nothing goes before them
}

type message struct {
	Role      string `json:"role"` // user, assistant, tool
	Text      string `json:"text"`
	Parts     []part `json:"parts"` // in place of a text
	Reasoning string `json:"reasoning"`
	Calls     []call `json:"calls"`
	Call      string `json:"call"` // of a tool's result: the id of its call
}

// part is a text or an image.
type part struct {
	Text  string `json:"text"`
	Image string `json:"image"` // base64 of a PNG
}

type call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // as on the wire, right or wrong
}

type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Arguments   object `json:"arguments"` // their schema; nothing but an object when it is left out
	Says        string `json:"says"`      // description and schema in one, where the schema has texts
	Hosted      bool   `json:"hosted"`    // the provider runs it
}

// schema is that of its arguments.
func (t tool) schema() object {
	if t.Arguments == nil {
		return object{"type": "object"}
	}
	return t.Arguments
}

// said is what the definition says to the model.
func (t tool) said() string {
	if t.Says != "" {
		return t.Says
	}
	return t.Description
}

// model is what the model answers.
type model struct {
	Text         string  `json:"text"`
	Reasoning    string  `json:"reasoning"`
	Calls        []call  `json:"calls"`
	Alternatives []model `json:"alternatives"` // the choices after the first
	Status       int     `json:"status"`
	Error        string  `json:"error"`
	DropAfter    int     `json:"drop_after"` // bytes of body after which the connection breaks
}

// on reports whether the case runs on a surface.
func (c *testcase) on(surface string) bool {
	if strings.HasPrefix(surface, narrow) {
		return names(c.also, surface)
	}
	return (len(c.doors) == 0 || names(c.doors, surface)) && !names(c.except, surface)
}

// narrow is a surface that has room for few cases: those run there that say so.
const narrow = "completions/"

func names(prefixes []string, surface string) bool {
	return slices.ContainsFunc(prefixes, func(d string) bool { return strings.HasPrefix(surface+"/", d+"/") })
}

func load(t *testing.T, dir string) []*testcase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	var cases []*testcase
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src = bytes.ReplaceAll(src, []byte("$TOKEN"), []byte(token))
		cases = append(cases, parse(t, strings.TrimSuffix(filepath.Base(file), ".txtar"), src))
	}
	return cases
}

func parse(t *testing.T, name string, src []byte) *testcase {
	t.Helper()
	a, c := txtar.Parse(src), &testcase{name: name}
	if about, _, _ := strings.Cut(string(a.Comment), "\n"); strings.TrimSpace(about) == "" {
		t.Errorf("%s: says not what it is about", name)
	}
	for line := range strings.Lines(string(a.Comment)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch word {
		case "doors":
			c.doors = strings.Fields(rest)
		case "except":
			c.except = strings.Fields(rest)
		case "also":
			c.also = strings.Fields(rest)
		case "skip":
			c.skip = rest
		case "panics":
			c.panics = rest
		}
	}
	over := map[int]map[string][]byte{} // turn → format → want.json
	for _, f := range a.Files {
		if f.Name == "config.yaml" {
			c.config = f.Data
			continue
		}
		n, file := 1, f.Name
		if first, rest, ok := strings.Cut(f.Name, "/"); ok {
			if i, err := strconv.Atoi(first); err == nil {
				n, file = i, rest
			}
		}
		for len(c.turns) < n {
			c.turns = append(c.turns, turn{want: map[string]want{}, raw: map[string]map[string][]byte{}, later: len(c.turns) > 0})
			over[len(c.turns)] = map[string][]byte{}
		}
		c.turns[n-1].take(t, name, file, f.Data, over[n])
	}
	for i := range c.turns {
		for format, doc := range over[i+1] {
			w := c.turns[i].want[format]
			decode(t, name, "want.json of "+format, doc, &w)
			c.turns[i].want[format] = w
		}
	}
	return c
}

// take reads one file of a turn. What a format wants otherwise is kept until the common part is known.
func (u *turn) take(t *testing.T, name, file string, data []byte, over map[string][]byte) {
	t.Helper()
	switch file {
	case "conversation.json":
		decode(t, name, file, data, &u.conversation)
	case "model.json":
		decode(t, name, file, data, &u.model)
	case "want.json":
		for _, format := range formats {
			w := want{Status: 200}
			decode(t, name, file, data, &w)
			u.want[format] = w
		}
	default:
		format, rest, _ := strings.Cut(file, "/")
		switch {
		case !slices.Contains(formats[:], format):
			t.Errorf("%s: a case has no file %s", name, file)
		case rest == "want.json":
			over[format] = data
		case rest == "request.json", rest == "response.json", rest == "response.sse", rest == "response.array":
			if u.raw[format] == nil {
				u.raw[format] = map[string][]byte{}
			}
			u.raw[format][rest] = data
		default:
			t.Errorf("%s: a case has no file %s", name, file)
		}
	}
}

func decode(t *testing.T, name, file string, data []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %s: %v", name, file, err)
	}
}
