package encoder

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// writeFile gives a model file of a shape with random weights.
func writeFile(s shape, pieces []string, r *rand.Rand) []byte {
	w := &writer{r: r}
	w.file = append(w.file, magic...)
	vocabulary := strings.Join(pieces, "\n") + "\n"
	w.words(s.depth, s.hidden, s.heads, s.headSize, s.intermediate, len(pieces), s.places, s.tokens, s.pooling, s.outputs)
	w.file = binary.LittleEndian.AppendUint32(w.file, math.Float32bits(1e-12))
	w.words(1, len(vocabulary), 0)
	w.bytes([]byte(vocabulary))
	w.table(len(pieces), s.hidden)
	w.table(s.places, s.hidden)
	w.floats(s.hidden, 0.1)
	w.norm(s.hidden)
	for range s.depth {
		w.matrix(3*s.width(), s.hidden)
		w.matrix(s.hidden, s.width())
		w.norm(s.hidden)
		w.matrix(s.intermediate, s.hidden)
		w.matrix(s.hidden, s.intermediate)
		w.norm(s.hidden)
	}
	w.floats(s.outputs*s.pooledSize(), 0.1)
	w.floats(s.outputs, 0.1)
	return sealed(append(w.file, 0, 0, 0, 0))
}

// sealed writes the checksum of a file anew.
func sealed(file []byte) []byte {
	body := len(file) - 4
	binary.LittleEndian.PutUint32(file[body:], crc32.ChecksumIEEE(file[:body]))
	return file
}

type writer struct {
	r    *rand.Rand
	file []byte
}

func (w *writer) words(values ...int) {
	for _, v := range values {
		w.file = binary.LittleEndian.AppendUint32(w.file, uint32(v))
	}
}

func (w *writer) bytes(b []byte) {
	w.file = append(w.file, b...)
	for len(w.file)%4 != 0 {
		w.file = append(w.file, 0)
	}
}

func (w *writer) floats(n int, deviation float64) {
	for range n {
		w.file = binary.LittleEndian.AppendUint32(w.file, math.Float32bits(float32(w.r.NormFloat64()*deviation)))
	}
}

func (w *writer) norm(n int) {
	for range n {
		w.file = binary.LittleEndian.AppendUint32(w.file, math.Float32bits(1))
	}
	w.floats(n, 0.1)
}

func (w *writer) table(rows, cols int) {
	w.scales(rows)
	w.weights(rows * cols)
}

func (w *writer) matrix(rows, cols int) {
	w.scales(rows)
	w.floats(rows, 0.1)
	w.weights(rows * cols)
}

func (w *writer) scales(n int) {
	for range n {
		w.file = binary.LittleEndian.AppendUint32(w.file, math.Float32bits(0.001*(1+w.r.Float32())))
	}
}

func (w *writer) weights(n int) {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(int8(w.r.IntN(255) - 127))
	}
	w.bytes(b)
}

// fewPieces is a vocabulary large enough for tests.
func fewPieces() []string {
	return strings.Fields("[PAD] [UNK] [CLS] [SEP] the a of word ##s ##ing un ##able ##e . , ! [ ] sep ab")
}

// randomModel has MiniLM's sizes.
func randomModel(t testing.TB, layers, pooling int, kernel string) *Model {
	t.Helper()
	s := shape{depth: layers, hidden: 384, heads: 12, headSize: 32, intermediate: 1536, places: 512, tokens: 256,
		pooling: pooling, outputs: 4}
	m, err := LoadWith(writeFile(s, fewPieces(), seeded(9)), kernel)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
