package encoder

import (
	"math"
	"math/rand/v2"
	"testing"
)

// overThePortable runs a test for each kernel of this CPU but the portable one.
func overThePortable(t *testing.T, test func(t *testing.T, k kernel)) {
	for _, k := range kernels() {
		if k.name != "portable" {
			t.Run(k.name, func(t *testing.T) { test(t, k) })
		}
	}
}

// shapes gives sizes that are multiples of panelCols, the smallest and the largest among them.
func shapes(r *rand.Rand) []int {
	sizes := []int{panelCols, 2 * panelCols, maxIntermediate}
	for range 20 {
		sizes = append(sizes, panelCols*(1+r.IntN(maxHidden/panelCols)))
	}
	return sizes
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// signed gives n bytes of -127 to 127, the ends more often than by chance.
func signed(r *rand.Rand, n int) []int8 {
	b := make([]int8, n)
	for i := range b {
		switch r.IntN(8) {
		case 0:
			b[i] = 127
		case 1:
			b[i] = -127
		default:
			b[i] = int8(r.IntN(255) - 127)
		}
	}
	return b
}

func flipped(b []int8, flip byte) []int8 {
	f := make([]int8, len(b))
	for i, v := range b {
		f[i] = int8(byte(v) ^ flip)
	}
	return f
}

// normal gives n numbers, some of them far out.
func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 2)
		if r.IntN(50) == 0 {
			x[i] *= 20
		}
	}
	return x
}

// expectSame fails when two lists differ anywhere.
func expectSame[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: at %d of %d, %v, not %v", what, i, len(want), got[i], want[i])
		}
	}
}

// expectNear fails when two lists differ by more than tolerance, relative to numbers above one.
func expectNear(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		if math.IsNaN(g) || math.Abs(g-w) > tolerance*max(1, math.Abs(w)) {
			t.Fatalf("%s: at %d of %d, %v, not %v", what, i, len(want), g, w)
		}
	}
}

func TestTilesAreThePortableOnesBitForBit(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(1)
		for _, n := range append(shapes(r), 4, 8, 60) {
			sameTile(t, k, r, n, n+32*r.IntN(2), panelCols*(1+r.IntN(3)))
		}
	})
}

// sameTile compares one tile of random bytes with the portable one.
func sameTile(t *testing.T, k kernel, r *rand.Rand, n, stride, outStride int) {
	t.Helper()
	rows, panel := signed(r, tileRows*stride), signed(r, n*panelCols)
	start := make([]int32, panelCols)
	for c := range start {
		start[c] = int32(r.IntN(1<<20) - 1<<19)
	}
	want, got := make([]int32, tileRows*outStride), make([]int32, tileRows*outStride)
	tilePortable(want, outStride, rows, stride, panel, start, n)
	for c := range start {
		for i := c * 4; i < len(panel); i += 4 * panelCols {
			for _, w := range panel[i : i+4] {
				start[c] -= k.offset() * int32(w)
			}
		}
	}
	k.tile(got, outStride, flipped(rows, k.flip), stride, panel, start, n)
	expectSame(t, "tile", got, want)
}

func FuzzTile(f *testing.F) {
	f.Add(uint64(1), uint16(8), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, quads uint16, gap, outGap uint8) {
		n := 4 * (1 + int(quads)%(maxIntermediate/4))
		for _, k := range kernels() {
			sameTile(t, k, seeded(seed), n, n+int(gap), panelCols+int(outGap))
		}
	})
}

func TestProductsAreThoseOfTileAndScale(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(7)
		for _, n := range shapes(r) {
			count, stride := tileRows*(1+r.IntN(4)), panelCols*(1+r.IntN(3))
			rows, panel, scales := flipped(signed(r, count*n), k.flip), signed(r, n*panelCols), normal(r, count)
			start, cols, bias := make([]int32, panelCols), normal(r, panelCols), normal(r, panelCols)
			for c := range start {
				start[c] = int32(r.IntN(1<<20) - 1<<19)
			}
			want, got := make([]float32, count*stride), make([]float32, count*stride)
			tile := make([]int32, tileRows*panelCols)
			k.stepwise(want, stride, rows, scales, panel, start, cols, bias, n, tile)
			k.product(got, stride, rows, scales, panel, start, cols, bias, n, tile)
			expectSame(t, "product", got, want)
		}
	})
}

func TestQuantisedBytesAreThePortableOnes(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(2)
		for _, size := range shapes(r) {
			groups := 1 + r.IntN(4)
			x := normal(r, groups*size)
			clear(x[(groups-1)*size:]) // a group of zeros
			if groups == 1 {
				x[0] = 1e-38
			}
			want, got := make([]int8, len(x)), make([]int8, len(x))
			wantScales, gotScales := make([]float32, groups), make([]float32, groups)
			quantisePortable(want, x, size, wantScales, k.flip)
			k.quantise(got, x, size, gotScales, k.flip)
			expectSame(t, "bytes", got, want)
			expectSame(t, "scales", gotScales, wantScales)
		}
	})
}

func TestKeysAreLaidOutAsThePortableOnes(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(3)
		for count := 1; count <= panelCols; count++ {
			size := panelCols * (1 + r.IntN(4))
			stride := size * (1 + r.IntN(3))
			tokens := signed(r, count*stride)
			want, got := make([]int8, size*panelCols), make([]int8, size*panelCols)
			wantStart, gotStart := make([]int32, panelCols), make([]int32, panelCols)
			keysPortable(want, wantStart, tokens, stride, count, size, -128)
			k.keys(got, gotStart, tokens, stride, count, size, -128)
			expectSame(t, "panel", got, want)
			expectSame(t, "start", gotStart, wantStart)
		}
	})
}

func TestValuesAreLaidOutAsThePortableOnes(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(4)
		for count := 4; count <= maxTokens; count += 4 {
			stride := panelCols * (1 + r.IntN(5))
			x := normal(r, count*stride)
			want, got := make([]int8, count*panelCols), make([]int8, count*panelCols)
			wantStart, gotStart := make([]int32, panelCols), make([]int32, panelCols)
			wantCols, gotCols := make([]float32, panelCols), make([]float32, panelCols)
			valuesPortable(want, wantStart, wantCols, x, stride, count, -1)
			k.values(got, gotStart, gotCols, x, stride, count, -1)
			expectSame(t, "panel", got, want)
			expectSame(t, "start", gotStart, wantStart)
			expectSame(t, "scales", gotCols, wantCols)
		}
	})
}

// Weights may differ by one where fp32 rounds the other way.
func TestSoftmaxIsNearThePortableOne(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(5)
		for stride := panelCols; stride <= maxTokens; stride += panelCols {
			scores := make([]int32, tileRows*stride)
			for i := range scores {
				scores[i] = int32(r.NormFloat64() * 100000)
			}
			rows, cols, mask := normal(r, tileRows), normal(r, stride), make([]float32, stride)
			for i := range rows {
				rows[i] *= 1e-3
			}
			for c := range cols {
				cols[c] *= 1e-2
			}
			for c := stride - r.IntN(panelCols); c < stride; c++ {
				cols[c], mask[c] = 0, masked
			}
			want, got := make([]int8, len(scores)), make([]int8, len(scores))
			wantSums, gotSums := make([]float32, tileRows), make([]float32, tileRows)
			softmaxPortable(want, append([]int32(nil), scores...), stride, rows, cols, mask, wantSums, k.flip)
			k.softmax(got, scores, stride, rows, cols, mask, gotSums, k.flip)
			for i := range want {
				if d := int(byte(got[i])^k.flip) - int(byte(want[i])^k.flip); d > 1 && d < 255 || d < -1 && d > -255 {
					t.Fatalf("weight %d: %d, not %d", i, byte(got[i])^k.flip, byte(want[i])^k.flip)
				}
			}
			expectNear(t, "sums", gotSums, wantSums, 1e-4)
		}
	})
}

func TestRowsOfNumbersAreNearThePortableOnes(t *testing.T) {
	overThePortable(t, func(t *testing.T, k kernel) {
		r := seeded(6)
		for _, size := range shapes(r) {
			x, y, gamma, beta := normal(r, size), normal(r, size), normal(r, size), normal(r, size)
			both := func(what string, tolerance float64, run func(k kernel, x []float32)) {
				want, got := append([]float32(nil), x...), append([]float32(nil), x...)
				run(portable(), want)
				run(k, got)
				expectNear(t, what, got, want, tolerance)
			}
			both("gelu", 1e-5, func(k kernel, x []float32) { k.gelu(x) })
			both("norm", 1e-4, func(k kernel, x []float32) { k.norm(x, y, gamma, beta, 1e-12) })
			row := make([]byte, size)
			for i, v := range signed(r, size) {
				row[i] = byte(v)
			}
			both("embed", 1e-6, func(k kernel, x []float32) { k.embed(x, row, 0.013, y) })

			stride := panelCols * (1 + r.IntN(4))
			tile := make([]int32, tileRows*panelCols)
			for i := range tile {
				tile[i] = int32(r.IntN(1<<22) - 1<<21)
			}
			rows, cols, bias := normal(r, tileRows), normal(r, panelCols), normal(r, panelCols)
			want, got := make([]float32, tileRows*stride), make([]float32, tileRows*stride)
			scalePortable(want, stride, tile, rows, cols, bias)
			k.scale(got, stride, tile, rows, cols, bias)
			expectNear(t, "scale", got, want, 1e-6)
		}
	})
}

func TestGeluIsNearTheExactOne(t *testing.T) {
	for _, k := range kernels() {
		for x := -12.0; x < 12; x += 1.0 / 64 {
			in := make([]float32, panelCols)
			in[7] = float32(x)
			k.gelu(in)
			want := x / 2 * (1 + math.Erf(x/math.Sqrt2))
			if math.Abs(float64(in[7])-want) > 5e-4 {
				t.Fatalf("%s: gelu of %v is %v, not %v", k.name, x, in[7], want)
			}
		}
	}
}
