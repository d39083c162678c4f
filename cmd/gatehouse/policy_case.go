package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// caseFile is a file of calls and of what a policy should say to them.
type caseFile struct {
	Name   string     `yaml:"name"`
	Policy string     `yaml:"policy"` // a configuration file, relative to this one
	Tools  yaml.Node  `yaml:"tools"`  // or its section tools
	Calls  []caseCall `yaml:"calls"`

	path string
	data []byte
}

type caseCall struct {
	Name     string            `yaml:"name"`
	Tool     string            `yaml:"tool"`
	Args     yaml.Node         `yaml:"args"`     // a mapping, or the text as the model wrote it
	Freeform *string           `yaml:"freeform"` // in place of args: the text of a tool that takes no JSON
	Context  policyContext     `yaml:"context"`
	Want     gatehouse.Verdict `yaml:"want"`
	Rule     string            `yaml:"rule"` // empty: any

	line int
}

// UnmarshalYAML remembers the line and refuses unknown keys.
func (c *caseCall) UnmarshalYAML(n *yaml.Node) error {
	type plain caseCall
	if err := knownKeys(n, "name", "tool", "args", "freeform", "context", "want", "rule"); err != nil {
		return err
	}
	if err := n.Decode((*plain)(c)); err != nil {
		return err
	}
	c.line = n.Line
	switch {
	case !slices.Contains([]gatehouse.Verdict{gatehouse.Allow, gatehouse.Flag, gatehouse.Block}, c.Want):
		return fmt.Errorf("line %d: want must be allow, flag or block", n.Line)
	case c.Freeform != nil && !c.Args.IsZero():
		return fmt.Errorf("line %d: a call has args or freeform text, not both", n.Line)
	}
	return nil
}

func knownKeys(n *yaml.Node, known ...string) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: must be a mapping of keys to values", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d: unknown key %s; known are %s", key.Line, key.Value, strings.Join(known, ", "))
		}
	}
	return nil
}

// findCaseFiles reads the case files at a path: the file itself, or every one below a directory. Files of YAML that have
// no calls are skipped: a policy may lie beside its cases.
func findCaseFiles(root string) (files []*caseFile, skipped []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); path != root && ext != ".yaml" && ext != ".yml" {
			return nil
		}
		f, err := readCaseFile(path)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case f == nil:
			skipped = append(skipped, path)
		default:
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		return nil, nil, exitError{2, err.Error()}
	}
	return files, skipped, nil
}

// readCaseFile is nil for a file without calls.
func readCaseFile(path string) (*caseFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	isCalls := func(key *yaml.Node) bool { return key.Value == "calls" }
	if doc.Kind != yaml.DocumentNode || !slices.ContainsFunc(doc.Content[0].Content, isCalls) {
		return nil, nil
	}
	if err := knownKeys(doc.Content[0], "name", "policy", "tools", "calls"); err != nil {
		return nil, err
	}
	f := &caseFile{path: path, data: data}
	if err := doc.Decode(f); err != nil {
		return nil, err
	}
	if (f.Policy == "") == f.Tools.IsZero() {
		return nil, errors.New("needs a policy, the path of a configuration file, or the section tools itself")
	}
	return f, nil
}

// compile reads the policy that the calls are put to.
func (f *caseFile) compile() (*policy.Policy, error) {
	path, data := f.path, f.inline()
	if f.Policy != "" {
		path = f.Policy
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.path), path)
		}
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, exitError{2, fmt.Sprintf("%s: read policy: %v", f.path, err)}
		}
	}
	c, err := config.Parse(path, data)
	if err != nil {
		return nil, exitError{1, "the policy is not valid\n" + err.Error()}
	}
	return policy.Compile(c.Tools)
}

// inline is the section tools of the case file as a configuration: the other lines are left empty, so that problems keep
// their lines.
func (f *caseFile) inline() []byte {
	lines := bytes.Split(f.data, []byte("\n"))
	inside := false
	for i, line := range lines {
		if len(line) > 0 && !bytes.ContainsAny(line[:1], " \t#-\r") {
			inside = bytes.HasPrefix(line, []byte("tools:"))
		}
		if !inside {
			lines[i] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// caseResult is what the policy said to one call.
type caseResult struct {
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Name     string            `json:"name"`
	OK       bool              `json:"ok"`
	Verdict  gatehouse.Verdict `json:"verdict"`
	Rule     string            `json:"rule"`
	Reason   string            `json:"reason"`
	Want     gatehouse.Verdict `json:"want"`
	WantRule string            `json:"want_rule,omitempty"`
}

func (r caseResult) String() string {
	if r.OK {
		return "ok    " + r.Name
	}
	want := string(r.Want)
	if r.WantRule != "" {
		want += " by " + r.WantRule
	}
	return fmt.Sprintf("FAIL  %s\n      %s:%d: got %s by %s (%s), want %s", r.Name, r.File, r.Line, r.Verdict, r.Rule, r.Reason, want)
}

func (f *caseFile) run() ([]caseResult, error) {
	p, err := f.compile()
	if err != nil {
		return nil, err
	}
	name := f.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path))
	}
	var out []caseResult
	for i, c := range f.Calls {
		call, err := c.call()
		if err != nil {
			return nil, exitError{2, fmt.Sprintf("%s:%d: %v", f.path, c.line, err)}
		}
		title := c.Name
		if title == "" {
			title = fmt.Sprintf("call %d to %s", i+1, c.Tool)
		}
		j := p.Judge(call)
		out = append(out, caseResult{f.path, c.line, name + ": " + title, j.Verdict == c.Want && (c.Rule == "" || c.Rule == j.Rule),
			j.Verdict, j.Rule, j.Reason, c.Want, c.Rule})
	}
	return out, nil
}

func (c *caseCall) call() (policy.Call, error) {
	call := policy.Call{Tool: c.Tool}
	c.Context.fill(&call)
	if c.Freeform != nil {
		call.Args, call.Freeform = *c.Freeform, true
		return call, nil
	}
	args, err := jsonText(&c.Args)
	call.Args = args
	return call, err
}
