package encoder

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// small is a shape that loads in microseconds, with heads that are not as wide as the rows.
func small(pooling int) shape {
	return shape{depth: 2, hidden: 64, heads: 3, headSize: 32, intermediate: 96, places: 80, tokens: 72, pooling: pooling, outputs: 3}
}

func smallModel(t testing.TB, pooling int, kernel string) *Model {
	t.Helper()
	m, err := LoadWith(writeFile(small(pooling), fewPieces(), seeded(7)), kernel)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func randomWindow(r *rand.Rand, m *Model) []Token {
	window := make([]Token, r.IntN(m.Window()+1))
	for i := range window {
		window[i].ID = int32(r.IntN(m.pieces))
	}
	return window
}

func score(t *testing.T, m *Model, window []Token) []float32 {
	t.Helper()
	logits := make([]float32, m.Outputs())
	if err := m.Score(t.Context(), window, logits); err != nil {
		t.Fatal(err)
	}
	return logits
}

func TestKernelsAgreeOnWholeModels(t *testing.T) {
	for _, pooling := range []int{poolCLS, poolMean, poolCLS | poolMean} {
		portable := smallModel(t, pooling, "portable")
		for _, name := range Kernels() {
			m := smallModel(t, pooling, name)
			if m.Kernel() != name {
				t.Fatalf("kernel %s, not %s", m.Kernel(), name)
			}
			r := seeded(8)
			for range 30 {
				window := randomWindow(r, m)
				// Where fp32 rounds the other way, a byte is one off: outputs of some tens move by hundredths.
				expectNear(t, name, score(t, m, window), score(t, portable, window), 0.05)
			}
		}
	}
}

func TestTheLastLayerOfTheFirstRowAloneIsThatOfAllRows(t *testing.T) {
	for _, name := range Kernels() {
		first, both := smallModel(t, poolCLS, name), smallModel(t, poolCLS, name)
		// The same weights, with a mean that weighs nothing.
		both.pooling = poolCLS | poolMean
		both.head = nil
		for k := range both.outputs {
			both.head = append(append(both.head, first.head[k*first.hidden:(k+1)*first.hidden]...), make([]float32, first.hidden)...)
		}
		both.pool = &sync.Pool{New: func() any { return newScratch(both.shape) }}
		r := seeded(10)
		for range 20 {
			window := randomWindow(r, first)
			expectSame(t, name, score(t, first, window), score(t, both, window))
		}
	}
}

func TestScratchCarriesNothingOver(t *testing.T) {
	for _, name := range Kernels() {
		m := smallModel(t, poolMean, name)
		r := seeded(11)
		window := randomWindow(r, m)
		want := score(t, m, window)
		for range 20 {
			score(t, m, randomWindow(r, m))
			expectSame(t, name, score(t, m, window), want)
		}
	}
}

func TestScoreAllocatesNothing(t *testing.T) {
	if watched {
		t.Skip("pools forget under the race detector")
	}
	m := smallModel(t, poolMean, Kernels()[0])
	window, logits := randomWindow(seeded(12), m), make([]float32, m.Outputs())
	ctx := t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		if err := m.Score(ctx, window, logits); err != nil {
			t.Fatal(err)
		}
	})
	if allocations >= 1 { // now and then the garbage collector empties the pool
		t.Errorf("%v allocations a window", allocations)
	}
}

func TestScoreRefuses(t *testing.T) {
	m := smallModel(t, poolCLS, "portable")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	cases := []struct {
		desc   string
		ctx    context.Context
		window []Token
		room   int
	}{
		{"a window that is too long", t.Context(), make([]Token, m.Window()+1), 3},
		{"a token behind the vocabulary", t.Context(), []Token{{ID: int32(m.pieces)}}, 3},
		{"a token before the vocabulary", t.Context(), []Token{{ID: -1}}, 3},
		{"no room for the outputs", t.Context(), nil, 2},
		{"work after the deadline", ended, nil, 3},
	}
	for _, c := range cases {
		if err := m.Score(c.ctx, c.window, make([]float32, c.room)); err == nil {
			t.Errorf("%s is scored", c.desc)
		}
	}
	if err := m.Score(ended, nil, make([]float32, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// ending is a context that ends when it has been asked so many times.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestTheDeadlineIsKeptBetweenLayers(t *testing.T) {
	m := smallModel(t, poolCLS, "portable")
	err := m.Score(&ending{t.Context(), 1}, nil, make([]float32, 3))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after one of two layers: %v", err)
	}
}

func TestScoreAllGivesWhatScoreGives(t *testing.T) {
	m := smallModel(t, poolMean, Kernels()[0])
	r := seeded(13)
	windows := make([][]Token, 40)
	for i := range windows {
		windows[i] = randomWindow(r, m)
	}
	for _, slots := range []chan struct{}{nil, make(chan struct{}, 3)} {
		got, err := m.ScoreAll(t.Context(), slots, windows)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range windows {
			expectSame(t, "logits", got[i], score(t, m, w))
		}
		if len(slots) != 0 {
			t.Errorf("%d slots are still taken", len(slots))
		}
	}
}

func TestScoreAllWithoutAFreeSlotStillWorks(t *testing.T) {
	m := smallModel(t, poolMean, "portable")
	slots := make(chan struct{}, 1)
	slots <- struct{}{}
	got, err := m.ScoreAll(t.Context(), slots, make([][]Token, 3))
	if err != nil || got[2] == nil || len(slots) != 1 {
		t.Errorf("%v, %v, %d slots taken", got, err, len(slots))
	}
}

func TestScoreAllKeepsWhatWasDoneInTime(t *testing.T) {
	m := smallModel(t, poolMean, "portable")
	got, err := m.ScoreAll(&ending{t.Context(), 3}, nil, make([][]Token, 3))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if got[0] == nil || got[1] != nil || got[2] != nil {
		t.Errorf("scored: %v", got)
	}
}

func TestWeightsOutOfAllProportionGiveAnError(t *testing.T) {
	s := small(poolMean)
	for _, name := range Kernels() {
		file := writeFile(s, fewPieces(), seeded(7))
		at := len(file) - 4 - 4*s.outputs // the head's biases
		binary.LittleEndian.PutUint32(file[at-4:], math.Float32bits(math.MaxFloat32))
		for i := at - 4*64; i < at; i += 4 {
			binary.LittleEndian.PutUint32(file[i:], math.Float32bits(math.MaxFloat32))
		}
		m, err := LoadWith(sealed(file), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Score(t.Context(), make([]Token, 9), make([]float32, s.outputs)); !errors.Is(err, errNotFinite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	s := small(poolMean)
	whole := writeFile(s, fewPieces(), seeded(7))
	word := func(at int, v uint32) func([]byte) []byte {
		return func(f []byte) []byte {
			binary.LittleEndian.PutUint32(f[at:], v)
			return sealed(f)
		}
	}
	vocabulary := int(binary.LittleEndian.Uint32(whole[56:]))
	words := headerSize + (vocabulary+3)&^3
	cases := []struct {
		desc   string
		change func([]byte) []byte
	}{
		{"nothing", func([]byte) []byte { return nil }},
		{"a header alone", func(f []byte) []byte { return f[:headerSize] }},
		{"another version", func(f []byte) []byte { f[7]++; return sealed(f) }},
		{"a byte too few", func(f []byte) []byte { return sealed(f[:len(f)-1]) }},
		{"a byte too many", func(f []byte) []byte { return sealed(append(f, 0)) }},
		{"a flipped bit", func(f []byte) []byte { f[len(f)/2] ^= 1; return f }},
		{"no layers", word(8, 0)},
		{"more layers than there are", word(8, 3)},
		{"a hidden size that is no multiple of 32", word(12, 65)},
		{"no heads", word(16, 0)},
		{"a head size of 2^31", word(20, 1<<31)},
		{"an intermediate size of 2^32-32", word(24, 1<<32-32)},
		{"a vocabulary of 2^32-1", word(28, 1<<32-1)},
		{"more tokens than positions", word(36, 81)},
		{"no pooling", word(40, 0)},
		{"an unknown pooling", word(40, 4)},
		{"no outputs", word(44, 0)},
		{"an epsilon that is no number", word(48, math.Float32bits(float32(math.NaN())))},
		{"an unknown flag", word(52, 2)},
		{"a vocabulary of other length", word(56, uint32(vocabulary+4))},
		{"a reserved word", word(60, 1)},
		{"an empty piece", func(f []byte) []byte { f[headerSize], f[headerSize+1] = '\n', '\n'; return sealed(f) }},
		{"a piece twice", func(f []byte) []byte { copy(f[headerSize:], "[UNK]"); return sealed(f) }},
		{"no [PAD]", func(f []byte) []byte { copy(f[headerSize:], "[pad]"); return sealed(f) }},
		{"a vocabulary that is not UTF-8", func(f []byte) []byte { f[headerSize] = 0xff; return sealed(f) }},
		{"padding that is not zero", func(f []byte) []byte { f[words-1] = 1; return sealed(f) }},
		{"a scale below zero", word(words, math.Float32bits(-1))},
		{"a scale that is infinite", word(words, math.Float32bits(float32(math.Inf(1))))},
		{"a weight of -128", word(words+4*len(fewPieces()), 0x80)},
		{"a bias that is no number", word(len(whole)-8, 0x7fc00000)},
	}
	if vocabulary%4 == 0 {
		t.Fatal("the vocabulary needs no padding: give it another piece")
	}
	for _, c := range cases {
		if _, err := Load(c.change(append([]byte(nil), whole...))); err == nil {
			t.Errorf("%s: loaded", c.desc)
		}
	}
	if _, err := Load(whole); err != nil {
		t.Errorf("whole: %v", err)
	}
	if _, err := LoadWith(whole, "abacus"); err == nil {
		t.Error("a kernel that does not exist")
	}
}

// A file that loads can be scored, whatever is in it.
func FuzzLoad(f *testing.F) {
	tiny := shape{depth: 1, hidden: 32, heads: 1, headSize: 32, intermediate: 32, places: 4, tokens: 4, pooling: 3, outputs: 1}
	whole := writeFile(tiny, fewPieces(), seeded(7))
	f.Add(whole)
	f.Add(whole[:100])
	f.Fuzz(func(_ *testing.T, file []byte) {
		if len(file) < headerSize+4 {
			return
		}
		for _, name := range Kernels() {
			m, err := LoadWith(sealed(file), name)
			if err != nil {
				return
			}
			_ = m.Score(context.Background(), make([]Token, m.Window()), make([]float32, m.Outputs()))
			m.Tokens("unable, words [SEP]", 9)
		}
	})
}
