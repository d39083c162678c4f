package detect

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/encoder"
)

// The transformer, as train/transformer writes it: its weights, and what its sums stand for. An empty file is none.
var (
	//go:embed weights/model.bin
	modelWeights []byte
	//go:embed weights/model.json
	modelHeads []byte
)

// shipped is the model that is built in; nil where none is. One is enough for all sets of the process: it takes 8 MB beside the file.
var shipped = sync.OnceValues(func() (*model, error) {
	if len(modelWeights) == 0 {
		return nil, nil //nolint:nilnil // no model is no error
	}
	return newModel(modelWeights, modelHeads)
})

// FullVersion is [Version] with that of the transformer where one is built in: the version of the set that [Default] makes.
func FullVersion() string {
	if len(modelWeights) == 0 {
		return Version
	}
	return withModel(modelVersion(modelWeights, modelHeads))
}

func withModel(version string) string { return Version + "+" + modelName + "." + version }

// modelVersion is a checksum of the heads and of the checksum that the weights end with.
func modelVersion(weights, heads []byte) string {
	sum := crc32.ChecksumIEEE(heads)
	return fmt.Sprintf("%08x", crc32.Update(sum, crc32.IEEETable, weights[max(0, len(weights)-4):]))
}

// modelName is what the stage is called.
const modelName = "model"

// model is the cascade's last stage: a transformer that reads the passages of a text which the linear detector finds worst.
type model struct {
	version string
	heads   [outputs]modelHead
	judge   judge
	turns   *turns
	slow    bool // this CPU takes too long for it
}

// judge gives the sums of passages by output. Of a passage that it did not get to it gives nil, and then an error that says why.
type judge interface {
	sums(ctx context.Context, slots chan struct{}, c Channel, list []Passage) ([][]float32, error)
}

// modelHead is what the sums of one output stand for.
type modelHead struct {
	// Model is what the transformer's sum counts; 0: it is not used, because the linear detector does better without it.
	Model float64 `json:"model"`
	// Least is the linear sum of a text below which the transformer is not asked, since it could not make it suspect. Without it, it always is.
	Least *float64 `json:"least"`
	// Linear is what the linear detector's sum counts beside it.
	Linear float64 `json:"linear"`
	// Penalty is what a passage's sum loses each time its distance from the text's start doubles, as in [Head].
	Penalty float64 `json:"penalty"`
	// Most is what the transformer's sum counts at most beside the linear one, so that no text is an attack for one of the two alone.
	// Without it there is no such bound.
	Most float64 `json:"most"`
	// Knots give the transformer's sums their scores, Together those of both detectors.
	Knots    []Knot `json:"knots"`
	Together []Knot `json:"together"`
}

func newModel(weights, heads []byte) (*model, error) {
	m := &model{version: modelVersion(weights, heads), turns: newTurns(runtime.GOMAXPROCS(0))}
	var err error
	if m.heads, err = readHeads(heads); err != nil {
		return nil, fmt.Errorf("model.json: %w", err)
	}
	e, err := encoder.Load(weights)
	if err != nil {
		return nil, fmt.Errorf("model.bin: %w", err)
	}
	reader, err := newTransformer(e)
	if err != nil {
		return nil, fmt.Errorf("model.bin: %w", err)
	}
	m.judge, m.slow = reader, reader.pace() > paceMost
	return m, nil
}

func readHeads(data []byte) (heads [outputs]modelHead, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return heads, err
	}
	for o, name := range outputNames {
		h := &heads[o]
		h.Model, h.Most = 1, math.Inf(1)
		if err := json.Unmarshal(all[name], h); err != nil {
			return heads, fmt.Errorf("output %s: %w", name, err)
		}
		if !rising(h.Knots) || !rising(h.Together) {
			return heads, fmt.Errorf("output %s: knots that do not rise", name)
		}
	}
	return heads, nil
}

// rising reports whether knots give every sum a score.
func rising(knots []Knot) bool {
	for i := 1; i < len(knots); i++ {
		if !(knots[i].Sum > knots[i-1].Sum && knots[i].Score >= knots[i-1].Score) {
			return false
		}
	}
	return len(knots) >= 2
}

// transformer reads passages with an encoder.
type transformer struct {
	*encoder.Model
	separator encoder.Token
}

// paceMost is the longest time that one full window may take. A text has three, and waits for them.
const paceMost = 50 * time.Millisecond

var errModelShape = errors.New("not a model of three outputs and 32 tokens or more")

// contextMost is room for the words before a passage, in tokens.
const contextMost = 16

func newTransformer(e *encoder.Model) (*transformer, error) {
	id, ok := e.ID("[SEP]")
	if !ok || e.Outputs() != outputs || e.Window() < 2*contextMost {
		return nil, errModelShape
	}
	return &transformer{e, encoder.Token{ID: id}}, nil
}

// pace is the time that a full window takes on this CPU: the shortest of a few, because the first finds cold caches and any may be
// interrupted.
func (m *transformer) pace() time.Duration {
	window, said := make([]encoder.Token, m.Window()), make([]float32, outputs)
	for i := range window {
		window[i] = m.separator
	}
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		if err := m.Score(context.Background(), window, said); err != nil {
			break // weights that give no number: the first text tells of it
		}
		if best = min(best, time.Since(start)); best < paceMost {
			break
		}
	}
	return best
}

// sums implements [judge].
func (m *transformer) sums(ctx context.Context, slots chan struct{}, c Channel, list []Passage) ([][]float32, error) {
	windows := make([][]encoder.Token, len(list))
	for i, p := range list {
		windows[i] = m.window(c, p)
	}
	return m.ScoreAll(ctx, slots, windows)
}

// window is a passage as the transformer has learnt to read it: where it stands, then what it says.
func (m *transformer) window(c Channel, p Passage) []encoder.Token {
	where := "input"
	if c == ToolResult {
		where = "tool result"
	}
	if p.Concealed {
		where += " hidden"
	}
	if p.Decoded {
		where += " decoded"
	}
	window := append(m.Tokens(where, contextMost), m.separator)
	return append(window, m.Tokens(p.Text, m.Window()-len(window))...)
}
