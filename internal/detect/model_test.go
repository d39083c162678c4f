package detect

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// document is a row of the golden files, which train/transformer/cascade.py writes: a text, and what the transformer must say of it.
type document struct {
	Kind     Channel
	Text     string
	Passages int
	Outputs  map[string]struct{ Sum, Together, Alone float64 }
}

func golden(t *testing.T, name string) []document {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata/cascade", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []document
	for d := json.NewDecoder(bufio.NewReader(file)); d.More(); {
		var one document
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

// modelFiles are the weights and the heads of a model with random weights.
func modelFiles(t testing.TB) (files [2][]byte) {
	t.Helper()
	for i, name := range []string{"model.bin", "model.json"} {
		var err error
		if files[i], err = os.ReadFile("testdata/cascade/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// tiny is a model with random weights.
func tiny(t *testing.T) *model {
	t.Helper()
	files := modelFiles(t)
	m, err := newModel(files[0], files[1])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDocumentsScoreAsTheReferenceSays(t *testing.T) {
	sameScores(t, tiny(t), "documents.jsonl")
}

// TestShippedDocumentsScoreAsTheReferenceSays is the same for the weights that are built in, where the golden file of them is there.
func TestShippedDocumentsScoreAsTheReferenceSays(t *testing.T) {
	m, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("testdata/cascade/shipped.jsonl"); m == nil || err != nil {
		t.Skip("no weights are built in, or there is no golden file of them")
	}
	sameScores(t, m, "shipped.jsonl")
}

// sameScores compares the scores of documents. The reference does not round in attention, as the encoder does.
func sameScores(t *testing.T, m *model, name string) {
	const most, mean = 0.12, 0.02
	both := with(t, m, "linear")
	alone := *both
	alone.detectors = nil
	away, worst, count := 0.0, 0.0, 0.0
	for i, d := range golden(t, name) {
		for set, together := range map[*Set]bool{both: true, &alone: false} {
			whole := Text{Channel: d.Kind, Text: d.Text}
			c := set.cascade(whole)
			readings := views(read(d.Text, formOf(d.Text)))
			for _, n := range readings {
				set.view(t.Context(), whole, n)
			}
			c.add(readings, 0, len(d.Text), nil)
			for _, n := range c.whole {
				c.read(n, 0)
			}
			if c.count != d.Passages {
				t.Fatalf("row %d: %d passages, not %d", i, c.count, d.Passages)
			}
			said, err := m.judge.sums(t.Context(), nil, d.Kind, c.list())
			if err != nil {
				t.Fatal(err)
			}
			for o, name := range outputNames {
				want, ok := d.Outputs[name]
				if !ok || m.heads[o].Model == 0 {
					continue
				}
				score := want.Alone
				if together {
					score = want.Together
				}
				top, _, _ := c.output(o, said)
				off := math.Abs(top - score)
				away, worst, count = away+off, max(worst, off), count+1
			}
		}
	}
	t.Logf("%.0f scores, %.4f apart in the mean and %.3f at most", count, away/count, worst)
	if worst > most || away/count > mean {
		t.Errorf("scores are %.4f apart in the mean and %.3f at most", away/count, worst)
	}
}

func TestModelFilesAreCheckedWhole(t *testing.T) {
	files := modelFiles(t)
	weights, heads := files[0], files[1]
	for name, c := range map[string]struct {
		weights []byte
		heads   string
		want    string
	}{
		"heads that are no JSON": {weights, "x", "model.json"},
		"an output is missing":   {weights, "{}", "model.json"},
		"knots that do not rise": {weights, strings.Replace(string(heads), `{"sum": -4, "score": 0.05}`, `{"sum": -9, "score": 0.05}`, 1), "do not rise"},
		"weights that are cut":   {weights[:len(weights)-9], string(heads), "model.bin"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newModel(c.weights, []byte(c.heads)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %s", err, c.want)
			}
		})
	}
}

func TestModelVersionIsOfBothFiles(t *testing.T) {
	a, b := modelVersion([]byte("weights1234"), []byte("{}")), modelVersion([]byte("weights1234"), []byte("{} "))
	if c := modelVersion([]byte("weights1235"), []byte("{}")); a == b || a == c || len(a) != 8 {
		t.Errorf("versions %s, %s, %s", a, b, c)
	}
}

func TestWindowSaysWhereItsPassageStands(t *testing.T) {
	m := tiny(t).judge.(*transformer) //nolint:errcheck // a panic fails the test
	p := Passage{Text: strings.Repeat("please send it on now ", 40), Concealed: true, Decoded: true}
	window := m.window(ToolResult, p)
	if len(window) != m.Window() {
		t.Errorf("%d tokens of a long passage, not %d", len(window), m.Window())
	}
	where := len(m.Tokens("tool result hidden decoded", 99))
	if window[where] != m.separator {
		t.Error("no separator behind the context")
	}
	if rest := m.Tokens(p.Text, 1); window[where+1] != rest[0] {
		t.Error("the passage does not begin behind the separator")
	}
}

// TestTheTransformerAloneIsBounded: beside the linear sum the transformer's counts no more than the head says, and alone all of it.
func TestTheTransformerAloneIsBounded(t *testing.T) {
	m := tiny(t)
	h := &m.heads[outputTool]
	h.Most = 0.5
	both := with(t, m, "linear")
	alone := *both
	alone.detectors = nil
	text := Text{Channel: ToolResult, Text: "The parcel has come, and stands at the door."}
	for set, bounded := range map[*Set]bool{both: true, &alone: false} {
		c := set.cascade(text)
		readings := views(read(text.Text, formOf(text.Text)))
		set.view(t.Context(), text, readings[0])
		c.add(readings[:1], 0, len(text.Text), nil)
		for _, n := range c.whole {
			c.read(n, 0)
		}
		top, _, _ := c.output(outputTool, [][]float32{{50, 50, 50}})
		want := scoreOf(h.Knots, 50)
		if bounded {
			want = scoreOf(h.Together, h.Most+h.Linear*c.linear[outputTool])
		}
		if top != want {
			t.Errorf("bounded %v: %.3f, not %.3f", bounded, top, want)
		}
	}
}
