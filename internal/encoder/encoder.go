// Package encoder runs a small BERT-style transformer for sequence classification, in pure Go with assembly kernels.
//
// It promises the pieces of the reference tokenizer with their places in the text, outputs close to those of the same
// weights in fp32, the same integers on every CPU, a context that is obeyed between layers, and an error for a file
// that is not whole. What the outputs mean, and which windows of a text are worth their time, is for the caller.
//
// Weights and activations are 8-bit integers, sums 32-bit integers, all else fp32. docs/encoder.md describes the file.
package encoder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// errNotFinite is what weights out of all proportion lead to.
var errNotFinite = errors.New("encoder: an output is not a finite number")

// Model is a loaded file. It may be used by any number of goroutines at once.
type Model struct {
	shape
	vocabulary
	words     []byte    // 8-bit rows, inside the file
	wordScale []float32 // one for each row
	positions []float32 // rows of position plus type embedding
	embedNorm layerNorm
	layers    []layer
	head      []float32 // a row of weights for each output
	headBias  []float32
	kernel    kernel
	pool      *sync.Pool // of *scratch
}

// Load reads a model file. The file is kept, not copied: it must not change afterwards. The fastest kernel that this
// CPU can run is taken.
func Load(file []byte) (*Model, error) {
	return load(file, kernels()[0])
}

// Kernels names those that this CPU can run, the fastest first.
func Kernels() []string {
	var names []string
	for _, k := range kernels() {
		names = append(names, k.name)
	}
	return names
}

// LoadWith is Load with the kernel named.
func LoadWith(file []byte, name string) (*Model, error) {
	for _, k := range kernels() {
		if k.name == name {
			return load(file, k)
		}
	}
	return nil, fmt.Errorf("encoder: this CPU runs no kernel %q", name)
}

func load(file []byte, k kernel) (*Model, error) {
	m, err := read(file, k)
	if err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	m.kernel = k
	m.pool = &sync.Pool{New: func() any { return newScratch(m.shape) }}
	return m, nil
}

// Kernel names the arithmetic in use: "avx512vnni", "avx2", "neon" or "portable".
func (m *Model) Kernel() string { return m.kernel.name }

// Outputs is how many numbers Score gives.
func (m *Model) Outputs() int { return m.outputs }

// Window is how many tokens a window may have, without the two that Score puts around it.
func (m *Model) Window() int { return m.tokens - 2 }

// Score writes the outputs for one window into logits, which has room for Outputs numbers. It puts [CLS] before the
// window and [SEP] after it. It works on the calling goroutine alone, and looks at ctx before each layer.
func (m *Model) Score(ctx context.Context, window []Token, logits []float32) error {
	if len(window) > m.Window() {
		return fmt.Errorf("encoder: a window of %d tokens, more than %d", len(window), m.Window())
	}
	if len(logits) != m.outputs {
		return fmt.Errorf("encoder: room for %d outputs, not %d", len(logits), m.outputs)
	}
	s, ok := m.pool.Get().(*scratch)
	if !ok {
		s = newScratch(m.shape)
	}
	defer m.pool.Put(s)
	if err := m.embed(s, window); err != nil {
		return err
	}
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.forward(&m.layers[i], s, i == len(m.layers)-1)
		runtime.Gosched() // a layer is long for whoever has little to do, and no preemption reaches a kernel
	}
	return m.classify(s, logits)
}

// ScoreAll gives the outputs of each window. The calling goroutine works, and one more for each slot that it can take
// without waiting: slots is a semaphore, shared by all who use CPUs, whose free places are room in its buffer. It may
// be nil. When ctx ends or a window is refused, the windows that were not scored have nil, and the error says why.
func (m *Model) ScoreAll(ctx context.Context, slots chan struct{}, windows [][]Token) ([][]float32, error) {
	b := batch{model: m, windows: windows, logits: make([][]float32, len(windows))}
	var others sync.WaitGroup
	for range len(windows) - 1 {
		select {
		case slots <- struct{}{}:
			others.Go(func() {
				defer func() { <-slots }()
				b.work(ctx)
			})
			continue
		default:
		}
		break
	}
	b.work(ctx)
	others.Wait()
	return b.logits, b.err
}

// batch is the windows that several goroutines take turns on.
type batch struct {
	model   *Model
	windows [][]Token
	logits  [][]float32

	mu   sync.Mutex
	next int
	err  error // the first
}

// work scores windows until none is left or one has failed.
func (b *batch) work(ctx context.Context) {
	for i := b.take(); i >= 0; i = b.take() {
		logits := make([]float32, b.model.outputs)
		if err := b.model.Score(ctx, b.windows[i], logits); err != nil {
			b.fail(err)
			return
		}
		b.logits[i] = logits
	}
}

// take gives the index of a window that nobody has had, or -1.
func (b *batch) take() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || b.next == len(b.windows) {
		return -1
	}
	b.next++
	return b.next - 1
}

func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// embed fills the scratch with the rows of [CLS], the window and [SEP].
func (m *Model) embed(s *scratch, window []Token) error {
	s.rows = len(window) + 2
	h := m.hidden
	for i := range s.rows {
		id := m.cls
		if i == s.rows-1 {
			id = m.sep
		} else if i > 0 {
			id = window[i-1].ID
		}
		if id < 0 || int(id) >= len(m.wordScale) {
			return fmt.Errorf("encoder: token %d is not in the vocabulary", id)
		}
		row := s.x[i*h : (i+1)*h]
		m.kernel.embed(row, m.words[int(id)*h:(int(id)+1)*h], m.wordScale[id], m.positions[i*h:(i+1)*h])
		clear(s.y[:h])
		m.kernel.norm(row, s.y[:h], m.embedNorm.gamma, m.embedNorm.beta, m.epsilon)
	}
	return nil
}

// classify pools the last layer's rows and applies the head.
func (m *Model) classify(s *scratch, logits []float32) error {
	pooled := m.pooled(s)
	for k := range logits {
		sum := m.headBias[k]
		for i, w := range m.head[k*len(pooled) : (k+1)*len(pooled)] {
			sum += w * pooled[i]
		}
		if math.IsNaN(float64(sum)) || math.IsInf(float64(sum), 0) {
			return errNotFinite
		}
		logits[k] = sum
	}
	return nil
}

// pooled is the head's input: the row of [CLS], the mean of all rows, or one after the other.
func (m *Model) pooled(s *scratch) []float32 {
	pooled := s.pooled[:0]
	if m.pooling&poolCLS != 0 {
		pooled = append(pooled, s.x[:m.hidden]...)
	}
	if m.pooling&poolMean == 0 {
		return pooled
	}
	at := len(pooled)
	pooled = append(pooled, s.x[:m.hidden]...)
	mean := pooled[at:]
	for r := 1; r < s.rows; r++ {
		for i, v := range s.x[r*m.hidden : (r+1)*m.hidden] {
			mean[i] += v
		}
	}
	for i := range mean {
		mean[i] /= float32(s.rows)
	}
	return pooled
}
