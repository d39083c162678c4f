package encoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// magic opens a file: a name and the version of the format.
const magic = "GHENC\x00\x00\x01"

const headerSize = 64

// What a model may pool.
const (
	poolCLS  = 1
	poolMean = 2
)

// Bounds of a file's sizes. They are well above any model that a CPU runs in milliseconds, and low enough that sums of
// products stay within 32 bits.
const (
	maxLayers       = 24
	maxHidden       = 1024
	maxHeads        = 64
	maxHeadSize     = 128
	maxIntermediate = 4096
	maxVocabulary   = 1 << 18
	maxPositions    = 1024
	maxTokens       = 256
	maxOutputs      = 64
)

var (
	errSize     = errors.New("the file's length is not what its header says")
	errChecksum = errors.New("the checksum is wrong")
	errNumber   = errors.New("a number is not finite, or a scale is negative")
	errWeight   = errors.New("a weight of -128")
)

// shape is what the header says.
type shape struct {
	depth        int // layers
	hidden       int
	heads        int
	headSize     int
	intermediate int
	pieces       int // in the vocabulary
	places       int // position embeddings
	tokens       int // of a window, with [CLS] and [SEP]
	pooling      int
	outputs      int
	epsilon      float32
	uncased      bool
}

// width is that of queries, keys and values.
func (s shape) width() int { return s.heads * s.headSize }

// pooledSize is how many numbers the head reads.
func (s shape) pooledSize() int {
	if s.pooling == poolCLS|poolMean {
		return 2 * s.hidden
	}
	return s.hidden
}

// read parses a file, whose weights it lays out for k.
func read(file []byte, k kernel) (*Model, error) {
	s, vocabularySize, err := readHeader(file)
	if err != nil {
		return nil, err
	}
	// Nothing is allocated by a header's word alone: the file must be as long as it says.
	if int64(len(file)) != s.fileSize(vocabularySize) {
		return nil, errSize
	}
	body := len(file) - 4
	if crc32.ChecksumIEEE(file[:body]) != binary.LittleEndian.Uint32(file[body:]) {
		return nil, errChecksum
	}
	b := &blob{rest: file[headerSize:body]}
	m := &Model{shape: s}
	m.vocabulary, err = readVocabulary(b.bytes(vocabularySize), s)
	if err != nil {
		return nil, err
	}
	m.wordScale, m.words = b.scales(s.pieces), b.weights(s.pieces*s.hidden)
	m.positions = b.positions(s)
	m.embedNorm = b.norm(s.hidden)
	for range s.depth {
		m.layers = append(m.layers, b.layer(s, k))
	}
	m.head, m.headBias = b.floats(s.outputs*s.pooledSize()), b.floats(s.outputs)
	return m, b.err
}

func readHeader(file []byte) (s shape, vocabularySize int, err error) {
	if len(file) < headerSize+4 || string(file[:len(magic)]) != magic {
		return s, 0, errors.New("not a model file of this version")
	}
	word := func(at int) int { return int(binary.LittleEndian.Uint32(file[at:])) }
	s = shape{
		depth: word(8), hidden: word(12), heads: word(16), headSize: word(20), intermediate: word(24),
		pieces: word(28), places: word(32), tokens: word(36), pooling: word(40), outputs: word(44),
		epsilon: math.Float32frombits(binary.LittleEndian.Uint32(file[48:])),
		uncased: word(52) == 1,
	}
	bounds := []struct {
		name            string
		value, low, top int
		multiple        int
	}{
		{"layers", s.depth, 1, maxLayers, 1},
		{"hidden size", s.hidden, panelCols, maxHidden, panelCols},
		{"heads", s.heads, 1, maxHeads, 1},
		{"head size", s.headSize, panelCols, maxHeadSize, panelCols},
		{"intermediate size", s.intermediate, panelCols, maxIntermediate, panelCols},
		{"vocabulary", s.pieces, 4, maxVocabulary, 1},
		{"positions", s.places, 2, maxPositions, 1},
		{"tokens", s.tokens, 2, min(maxTokens, s.places), 1},
		{"pooling", s.pooling, poolCLS, poolCLS | poolMean, 1},
		{"outputs", s.outputs, 1, maxOutputs, 1},
		{"flags", word(52), 0, 1, 1},
		{"vocabulary's bytes", word(56), 2 * s.pieces, math.MaxInt32 / 2, 1},
		{"reserved word", word(60), 0, 0, 1},
	}
	for _, b := range bounds {
		if b.value < b.low || b.value > b.top || b.value%b.multiple != 0 {
			return s, 0, fmt.Errorf("the header's %s of %d is out of bounds", b.name, b.value)
		}
	}
	if s.width() > maxHidden {
		return s, 0, fmt.Errorf("heads of %d columns in all, more than %d", s.width(), maxHidden)
	}
	if !(s.epsilon > 0 && s.epsilon <= 1) {
		return s, 0, errors.New("the header's epsilon is out of bounds")
	}
	return s, word(56), nil
}

// fileSize is how long a file with this header must be.
func (s shape) fileSize(vocabularySize int) int64 {
	h, a, i := int64(s.hidden), int64(s.width()), int64(s.intermediate)
	matrix := func(out, in int64) int64 { return out * (8 + in) }
	table := func(rows int64) int64 { return rows * (4 + h) }
	norm := 8 * h
	layer := matrix(3*a, h) + matrix(h, a) + matrix(i, h) + matrix(h, i) + 2*norm
	head := 4 * int64(s.outputs) * int64(s.pooledSize()+1)
	return headerSize + int64(vocabularySize+3)&^3 + table(int64(s.pieces)) + table(int64(s.places)) + 4*h + norm +
		int64(s.depth)*layer + head + 4
}

// blob reads sections. Its first error stays; after it, what is read has the right length and no meaning.
type blob struct {
	rest []byte
	err  error
}

func (b *blob) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// bytes takes n bytes and the zeros that fill up a multiple of four.
func (b *blob) bytes(n int) []byte {
	section, padding := b.rest[:n:n], b.rest[n:(n+3)&^3]
	for _, p := range padding {
		if p != 0 {
			b.fail(errors.New("padding that is not zero"))
		}
	}
	b.rest = b.rest[n+len(padding):]
	return section
}

func (b *blob) floats(n int) []float32 {
	raw := b.bytes(4 * n)
	f := make([]float32, n)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		if f[i]-f[i] != 0 { // an infinity or no number
			b.fail(errNumber)
		}
	}
	return f
}

func (b *blob) scales(n int) []float32 {
	f := b.floats(n)
	for _, s := range f {
		if s < 0 {
			b.fail(errNumber)
		}
	}
	return f
}

// weights takes n signed bytes. -128 has no counterpart, and kernels count on there being one.
func (b *blob) weights(n int) []byte {
	w := b.bytes(n)
	if bytes.IndexByte(w, 0x80) >= 0 {
		b.fail(errWeight)
	}
	return w
}

// positions reads the tables of positions and of the one type, and adds them up for as many rows as a window has.
func (b *blob) positions(s shape) []float32 {
	scales, rows := b.scales(s.places), b.weights(s.places*s.hidden)
	kind := b.floats(s.hidden)
	sum := make([]float32, s.tokens*s.hidden)
	for i := range sum {
		sum[i] = scales[i/s.hidden]*float32(int8(rows[i])) + kind[i%s.hidden]
	}
	return sum
}

func (b *blob) norm(n int) layerNorm {
	return layerNorm{gamma: b.floats(n), beta: b.floats(n)}
}

func (b *blob) layer(s shape, k kernel) layer {
	return layer{
		qkv:      b.matrix(3*s.width(), s.hidden, k),
		out:      b.matrix(s.hidden, s.width(), k),
		attended: b.norm(s.hidden),
		up:       b.matrix(s.intermediate, s.hidden, k),
		down:     b.matrix(s.hidden, s.intermediate, k),
		fed:      b.norm(s.hidden),
	}
}

func (b *blob) matrix(out, in int, k kernel) matrix {
	scale, bias := b.scales(out), b.floats(out)
	return newMatrix(b.weights(out*in), scale, bias, in, k)
}
