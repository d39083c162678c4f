package gatehouse_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-gateway/gatehouse"

// layers is the import direction of ARCHITECTURE.md. A package imports packages of earlier layers and none of its own,
// its sub-packages excepted. A directory belongs to its longest prefix in the table; one without a prefix fails the
// test, so that a new package is given a place on purpose.
var layers = [][]string{
	{".", "verdict", "internal/rawjson", "internal/sse", "internal/encoding", "internal/encoder", "internal/keep", "internal/leaktest"},
	{"internal/canonical", "internal/jsonarray", "agent"},
	{"internal/wire"},
	{"internal/wire/openai", "internal/wire/anthropic", "internal/wire/gemini", "internal/wire/responses", "internal/wire/completions",
		"internal/wire/embeddings"},
	{"internal/detect", "internal/deed"},
	{"internal/redact", "internal/provenance", "internal/findings"},
	{"internal/policy", "internal/audit", "internal/session", "internal/identity", "internal/seal", "internal/approval", "internal/judge"},
	{"internal/checkpoint", "internal/webhook"},
	{"internal/header", "internal/upstream"},
	{"internal/surface"},
	{"internal/proxy", "internal/api", "internal/slack", "internal/telemetry"},
	{"internal/store", "internal/config"},
	{"internal/fake", "bench", "internal/scorecard"},
	{"internal/gateway"},
	{"local"},
	{"train/rows"},
	{"cmd", "internal/apidoc", "examples", "train"},
}

// forbidden holds the rules that the layers alone do not say.
var forbidden = []struct{ from, to, why string }{
	{"internal/proxy", "internal/checkpoint", "surfaces see gatehouse.Checker, never the engine"},
	{"internal/proxy", "internal/store", "surfaces see gatehouse.Checker, never the store"},
	{"internal/config", "internal/store", "nothing but gateway and cmd imports store"},
	{"internal/api", "internal/checkpoint", "surfaces see gatehouse.Checker, never the engine"},
	{"internal/api", "internal/store", "surfaces see gatehouse.Checker, never the store"},
	{"internal/slack", "internal/checkpoint", "surfaces see gatehouse.Checker, never the engine"},
	{"internal/slack", "internal/store", "surfaces see gatehouse.Checker, never the store"},
	{"internal/surface", "internal/checkpoint", "surfaces see gatehouse.Checker, never the engine"},
	{"internal/fake", "internal/store", "nothing but gateway and cmd imports store"},
	{"internal/wire/openai", "internal/wire/anthropic", "a codec knows one format"},
	{"internal/wire/anthropic", "internal/wire/openai", "a codec knows one format"},
	{"internal/wire/gemini", "internal/wire/openai", "a codec knows one format"},
	{"internal/wire/gemini", "internal/wire/anthropic", "a codec knows one format"},
}

// standardOnly are the public packages: importing them brings in nothing else.
var standardOnly = []string{".", "verdict", "agent"}

// maxLines is where a file has become two nouns (CONTRIBUTING.md).
const maxLines = 450

// vague are names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "manager"}

func TestImportDirection(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		from, home := layer(f.dir)
		if home == "" {
			t.Errorf("%s: package %s has no layer: give it one in layout_test.go and ARCHITECTURE.md", f.path, f.dir)
			continue
		}
		for _, to := range f.inside() {
			if err := direction(from, home, to); err != nil {
				t.Errorf("%s: %v", f.path, err)
			}
		}
	}
}

// direction checks one import by a package of layer from, whose entry in the table is home.
func direction(from int, home, to string) error {
	at, entry := layer(to)
	switch {
	case entry == "":
		return fmt.Errorf("imports %s, which has no layer", to)
	case entry != home && at >= from:
		return fmt.Errorf("%s imports %s against the direction of ARCHITECTURE.md", home, to)
	}
	for _, rule := range forbidden {
		if rule.from == home && rule.to == entry {
			return fmt.Errorf("%s imports %s: %s", home, to, rule.why)
		}
	}
	return nil
}

// layer finds the longest prefix of dir in the table; home is empty when there is none.
func layer(dir string) (at int, home string) {
	for i, entries := range layers {
		for _, e := range entries {
			if (dir == e || strings.HasPrefix(dir, e+"/")) && len(e) > len(home) {
				at, home = i, e
			}
		}
	}
	return at, home
}

func TestDirectionIsHeld(t *testing.T) {
	cases := []struct {
		desc, from, to string
		ok             bool
	}{
		{"a surface sees the vocabulary", "internal/proxy", ".", true},
		{"a surface does not see the engine", "internal/proxy", "internal/checkpoint", false},
		{"a surface does not see the store", "internal/proxy", "internal/store", false},
		{"the store implements what domains declare", "internal/store", "internal/audit", true},
		{"a domain package does not know the store", "internal/audit", "internal/store", false},
		{"domain packages do not import each other", "internal/policy", "internal/audit", false},
		{"codecs do not import each other", "internal/wire/openai", "internal/wire/anthropic", false},
		{"a codec imports wire", "internal/wire/openai", "internal/wire", true},
		{"wire does not import a codec", "internal/wire", "internal/wire/openai", false},
		{"a sub-package belongs to its parent", "internal/store/storetest", "internal/store", true},
		{"the root imports nothing of ours", ".", "internal/rawjson", false},
		{"cmd imports everything", "cmd/gatehouse", "internal/store", true},
		{"a package without a place is refused", "cmd/gatehouse", "internal/elsewhere", false},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			from, home := layer(c.from)
			if err := direction(from, home, c.to); (err == nil) != c.ok {
				t.Errorf("%s importing %s: %v", c.from, c.to, err)
			}
		})
	}
}

func TestPublicPackagesUseOnlyTheStandardLibrary(t *testing.T) {
	public := map[string]bool{}
	for _, dir := range standardOnly {
		public[dir] = true
	}
	for _, f := range goFiles(t) {
		if f.test || !public[f.dir] {
			continue
		}
		for _, imp := range f.imports {
			if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") && imp != module {
				t.Errorf("%s imports %s; public packages import the standard library only", f.path, imp)
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.test && f.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: look for a second noun", f.path, f.lines, maxLines)
		}
	}
}

func TestNamesSayWhatIsInside(t *testing.T) {
	for _, f := range goFiles(t) {
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
		for _, v := range vague {
			if stem == v || path.Base(f.dir) == v {
				t.Errorf("%s: %q says nothing; name it after its noun", f.path, v)
			}
		}
	}
}

// goFile is one Go file of the module.
type goFile struct {
	path    string // slash-separated, from the module's root
	dir     string // "." for the root
	test    bool
	lines   int
	imports []string
}

// inside lists the imports that are packages of this module, as directories.
func (f goFile) inside() []string {
	var dirs []string
	for _, imp := range f.imports {
		if imp == module {
			dirs = append(dirs, ".")
		} else if dir, ok := strings.CutPrefix(imp, module+"/"); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		f, err := readGoFile(name)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found: the test runs in the wrong directory")
	}
	return files
}

// skipped names directories that hold no packages of this module.
func skipped(name string) bool {
	base := filepath.Base(name)
	return base == "testdata" || base == "node_modules" || base == "venv" || len(base) > 1 && strings.HasPrefix(base, ".")
}

func readGoFile(name string) (goFile, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return goFile{}, err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return goFile{}, err
	}
	slash := filepath.ToSlash(name)
	f := goFile{
		path:  slash,
		dir:   path.Dir(slash),
		test:  strings.HasSuffix(name, "_test.go") || path.Base(path.Dir(slash)) == "storetest",
		lines: bytes.Count(src, []byte("\n")),
	}
	for _, spec := range tree.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return goFile{}, fmt.Errorf("%s: %w", name, err)
		}
		f.imports = append(f.imports, imp)
	}
	return f, nil
}
