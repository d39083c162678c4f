// Package rows reads the labelled texts from which the detectors learn and by which they are judged: JSON lines, and the hands of
// train/hands.
package rows

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Row is one labelled text.
type Row struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Label   int    `json:"label"` // 1: an attack
	Kind    string `json:"kind"`  // input, tool_result
	Lang    string `json:"lang,omitempty"`
	Carrier string `json:"carrier,omitempty"`
	Family  string `json:"family,omitempty"`
	Attack  string `json:"attack_type,omitempty"` // how some sources call the family
	Source  string `json:"source"`
	Tool    string `json:"tool,omitempty"`
	Licence string `json:"license,omitempty"`

	// Payload is what would have to be cut out: a part of Text, or empty where nobody said. Plain is what an encoded payload
	// decodes to.
	Payload string `json:"payload,omitempty"`
	Plain   string `json:"plain,omitempty"`
	// Goal is what the payload wants, which some sources have in place of the payload.
	Goal string `json:"injected_goal,omitempty"`

	// Spans are the bytes of the payloads in Text; rows of hands have them.
	Spans [][2]int `json:"-"`
	// Twin is the id of the row with which an attack shares its carrier.
	Twin string `json:"twin_of,omitempty"`
	// Hand is the author or corpus that is left out as a whole: the name of the file for hands, the source otherwise.
	Hand string `json:"-"`
}

// maxLine bounds a row, in bytes.
const maxLine = 32 << 20

// Read reads files and folders: .jsonl as rows, .txt as hands; in folders README and other files are passed over.
func Read(paths ...string) ([]Row, error) {
	var all []Row
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			files = nil
			for _, pattern := range []string{"*.jsonl", "*.txt"} {
				found, err := filepath.Glob(filepath.Join(path, pattern))
				if err != nil {
					return nil, err
				}
				files = append(files, found...)
			}
		}
		for _, file := range files {
			rows, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

func readFile(path string) ([]Row, error) {
	if strings.HasSuffix(path, ".txt") {
		return readHand(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []Row
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		r.Hand = hand(r.Source)
		rows = append(rows, r.located())
	}
	return rows, lines.Err()
}

// located is the row with the places of its payload, where that stands in the text as it is.
func (r Row) located() Row {
	if r.Payload == "" {
		r.Payload = r.Goal
	}
	if r.Payload == "" || len(r.Spans) > 0 {
		return r
	}
	if i := strings.Index(r.Text, r.Payload); i >= 0 {
		r.Spans = [][2]int{{i, i + len(r.Payload)}}
		return r
	}
	escaped, err := json.Marshal(r.Payload)
	if err != nil {
		return r
	}
	inner := string(escaped[1 : len(escaped)-1])
	if i := strings.Index(r.Text, inner); i >= 0 {
		r.Spans = [][2]int{{i, i + len(inner)}}
	}
	return r
}

// families of sources that one generator or one people wrote, by how their names begin.
var families = []struct{ prefix, hand string }{
	{"own", "synth"}, {"obf", "synth"}, {"random base64", "synth"}, {"tldr", "tldr"}, {"page(own", "synth"},
	{"libreoffice-help", "libreoffice-help"}, {"manpages", "manpages"}, {"made-", "made"}, {"XQuAD", "XQuAD"}, {"go-stdlib", "go-stdlib"},
	{"OWASP", "OWASP"}, {"pallms", "pallms"}, {"SpamAssassin", "SpamAssassin"}, {"BFCL", "BFCL"},
}

// hand is who made the rows of a source: the templates of one generator are one hand, whatever carrier they stand in.
func hand(source string) string {
	for _, f := range families {
		if strings.HasPrefix(source, f.prefix) {
			return f.hand
		}
	}
	if strings.HasPrefix(source, "authored/") {
		return source
	}
	name, _, _ := strings.Cut(source, "/")
	return name
}
