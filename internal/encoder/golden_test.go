package encoder

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

// The golden files come from train/transformer/golden.

// rowsOf reads JSON lines.
func rowsOf[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var data io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if data, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	var rows []T
	lines := bufio.NewScanner(data)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s is empty", path)
	}
	return rows
}

func TestTokensAreThoseOfTheReference(t *testing.T) {
	data, err := os.ReadFile("testdata/pieces.txt")
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVocabulary(data, shape{pieces: bytes.Count(data, []byte("\n")), uncased: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{vocabulary: v}
	type row struct {
		Text  string
		IDs   []int32
		Spans []int
	}
	for _, want := range rowsOf[row](t, "testdata/tokens.jsonl.gz") {
		got := m.Tokens(want.Text, math.MaxInt)
		if len(got) != len(want.IDs) {
			t.Errorf("%q: %d tokens, not %d", want.Text, len(got), len(want.IDs))
			continue
		}
		for i, g := range got {
			if w := (Token{want.IDs[i], want.Spans[2*i], want.Spans[2*i+1]}); g != w {
				t.Errorf("%q: token %d is %v, not %v", want.Text, i, g, w)
				break
			}
		}
	}
}

// The reference computes in fp32, with weights that were not rounded.
func TestOutputsAreNearThoseOfTheReference(t *testing.T) {
	const worst, mean = 0.12, 0.025
	file, err := os.ReadFile("testdata/tiny.bin")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		IDs    []int32
		Logits []float32
	}
	for _, k := range Kernels() {
		t.Run(k, func(t *testing.T) {
			m, err := LoadWith(file, k)
			if err != nil {
				t.Fatal(err)
			}
			sum, count, top := 0.0, 0.0, 0.0
			for _, want := range rowsOf[row](t, "testdata/tiny.jsonl") {
				window, logits := make([]Token, len(want.IDs)), make([]float32, m.Outputs())
				for i, id := range want.IDs {
					window[i].ID = id
				}
				if err := m.Score(t.Context(), window, logits); err != nil {
					t.Fatal(err)
				}
				for i, w := range want.Logits {
					d := math.Abs(float64(logits[i] - w))
					sum, count, top = sum+d, count+1, max(top, d)
				}
			}
			t.Logf("mean difference %.4f, largest %.4f", sum/count, top)
			if top > worst || sum/count > mean {
				t.Errorf("outputs differ by %.4f on average and %.4f at most", sum/count, top)
			}
		})
	}
}
