// Command windows writes labelled texts as the passages that the transformer reads, one text a line:
//
//	go run ./train/windows -out FILE [-sample N] PATH…
//
// PATHs are files and folders of labelled texts; train/README.md says which. The texts are read by the code of the gateway.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"os"
	"runtime"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/train/rows"
)

// text is one labelled text.
type text struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Hand    string `json:"hand"`
	Family  string `json:"family"`
	Carrier string `json:"carrier"`
	Lang    string `json:"lang"`
	Kind    string `json:"kind"`
	Twin    string `json:"twin,omitempty"`
	Label   int    `json:"label"`
	// Sort is "jailbreak" or "attack", "misleading" or "ordinary".
	Sort   string `json:"sort"`
	Length int    `json:"length"`
	// Linear is what the shipped linear weights say of the text as a whole, by output.
	Linear  [3]float64 `json:"linear"`
	Windows []passage  `json:"windows"`
}

// passage is one passage of a text. Payload is how much of a payload it holds: 1 when all of one, or when it is nothing but payload; -1
// where nobody said where the payload is.
type passage struct {
	Text      string     `json:"text"`
	First     int        `json:"first"`
	Concealed bool       `json:"concealed,omitempty"`
	Decoded   bool       `json:"decoded,omitempty"`
	Payload   float64    `json:"payload"`
	Sums      [3]float64 `json:"sums"`
}

func main() {
	out := flag.String("out", "", "file to write")
	sample := flag.Int("sample", 1, "take one of so many rows of the large benign corpora")
	flag.Parse()
	if err := run(*out, *sample, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(out string, sample int, paths []string) error {
	all, err := rows.Read(paths...)
	if err != nil {
		return err
	}
	all = rows.Usable(all, sample)
	reader, err := detect.NewReader()
	if err != nil {
		return err
	}
	file, err := os.Create(out) //nolint:gosec // the file that the user named
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	// Each row has a place of its own in the order, so that the file is the same every time.
	results := make(chan chan text, 4*runtime.NumCPU())
	go func() {
		for _, r := range all {
			one := make(chan text, 1)
			results <- one
			go func() { one <- read(reader, r) }()
		}
		close(results)
	}()
	for one := range results {
		if err := lines.Encode(<-one); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

func read(reader *detect.Reader, r rows.Row) text {
	t := text{
		ID: r.ID, Source: r.Source, Hand: r.Hand, Family: r.Family, Carrier: r.Carrier, Lang: r.Lang, Kind: r.Kind, Twin: r.Twin,
		Label: r.Label, Sort: sort(r), Length: len(r.Text), Windows: []passage{},
	}
	if t.Family == "" {
		t.Family = r.Attack
	}
	whole := detect.Text{Channel: detect.Channel(r.Kind), Tool: r.Tool, Text: r.Text}
	t.Linear, _ = reader.Sums(whole) // without a sentence there is no passage, and nobody looks at it
	for _, p := range reader.Passages(whole) {
		t.Windows = append(t.Windows, passage{p.Text, p.First, p.Concealed, p.Decoded, share(r, p), p.Sums})
	}
	return t
}

func sort(r rows.Row) string {
	switch {
	case r.Label == 1 && r.Jailbreak():
		return "jailbreak"
	case r.Label == 1:
		return "attack"
	case r.Misleading():
		return "misleading"
	}
	return "ordinary"
}

// share is how much of a payload a passage holds.
func share(r rows.Row, p detect.Passage) float64 {
	switch {
	case r.Label == 0:
		return 0
	case len(r.Spans) == 0:
		return -1
	}
	most := 0.0
	for _, s := range r.Spans {
		shared := min(s[1], p.End) - max(s[0], p.Start)
		if least := min(s[1]-s[0], p.End-p.Start); shared > 0 && least > 0 {
			most = max(most, float64(shared)/float64(least))
		}
	}
	return most
}
