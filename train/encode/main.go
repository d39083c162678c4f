// Command encode runs a model file over texts, for comparison with other implementations. It reads JSON lines, each with
// a text or the ids of a window, and writes one line for each: its tokens, the outputs, and what scoring took.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/encoder"
)

// maxLine is more than any text that is worth comparing.
const maxLine = 16 << 20

type question struct {
	Text string  `json:"text,omitempty"`
	IDs  []int32 `json:"ids,omitempty"`
}

type answer struct {
	IDs         []int32   `json:"ids,omitempty"`   // of a text
	Spans       [][2]int  `json:"spans,omitempty"` // bytes of the text, for each id
	Logits      []float32 `json:"logits,omitempty"`
	Nanoseconds int64     `json:"ns,omitempty"`
}

func main() {
	file := flag.String("model", "", "the model file")
	kernel := flag.String("kernel", encoder.Kernels()[0], fmt.Sprintf("one of %v", encoder.Kernels()))
	flag.Parse()
	if err := run(*file, *kernel); err != nil {
		log.Fatal(err)
	}
}

func run(file, kernel string) error {
	blob, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m, err := encoder.LoadWith(blob, kernel)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		a, err := reply(m, q)
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// reply scores the ids that were given, or else cuts the text.
func reply(m *encoder.Model, q question) (answer, error) {
	if q.IDs == nil {
		var a answer
		for _, t := range m.Tokens(q.Text, len(q.Text)+1) {
			a.IDs, a.Spans = append(a.IDs, t.ID), append(a.Spans, [2]int{t.Start, t.End})
		}
		return a, nil
	}
	window := make([]encoder.Token, len(q.IDs))
	for i, id := range q.IDs {
		window[i].ID = id
	}
	a := answer{Logits: make([]float32, m.Outputs())}
	start := time.Now()
	err := m.Score(context.Background(), window, a.Logits)
	a.Nanoseconds = time.Since(start).Nanoseconds()
	return a, err
}
