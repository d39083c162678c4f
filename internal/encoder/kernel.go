package encoder

// kernel is the arithmetic of one kind of CPU. Integers are the same bit for bit in all kernels; fp32 differs by rounding.
//
// Assembly trusts its callers: slices must be as long as the comments say, and sizes multiples of panelCols.
type kernel struct {
	name string

	// flip is XORed into the bytes of rows that go into tile: 0x80 turns them from signed into unsigned with an offset
	// of 128, for dot products that want one side unsigned.
	flip byte

	// tile computes out[r*outStride+c] = start[c] + the sum over i < n of rows[r*stride+i] * panel[i/4*128+c*4+i%4], for
	// 8 rows and 32 columns. n is a multiple of four.
	tile func(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)

	// scale computes out[r*stride+c] = tile[r*32+c]*rows[r]*cols[c] + bias[c], for 8 rows and 32 columns.
	scale func(out []float32, stride int, tile []int32, rows, cols, bias []float32)

	// product does tile and scale for whole rows of n bytes: as many as there are scales, a multiple of eight. Rows of out
	// are outStride apart. tile is room for the sums of a tile.
	product func(out []float32, outStride int, rows []int8, scales []float32, panel []int8, start []int32,
		cols, bias []float32, n int, tile []int32)

	// quantise cuts x into groups of size numbers, and gives each as bytes of -127 to 127 with one scale.
	quantise func(q []int8, x []float32, size int, scales []float32, flip byte)

	// gelu replaces each number by x times the normal distribution's integral up to it, within 5e-4.
	gelu func(x []float32)

	// norm adds y to x, and normalises the sum to mean beta and deviation gamma.
	norm func(x, y, gamma, beta []float32, epsilon float32)

	// softmax turns 8 rows of scores, stride long, into signed bytes of weights: topWeight times two to the power of
	// score*rows[r]*cols[c]+mask[c] less the row's largest, less halfWeight. sums gets one over the sum of a row's
	// weights. The scores are overwritten.
	softmax func(weights []int8, scores []int32, stride int, rows, cols, mask, sums []float32, flip byte)

	// keys lays out up to 32 tokens, stride apart and size bytes each, as the columns of a panel. start gets their sums
	// times factor.
	keys func(panel []int8, start []int32, tokens []int8, stride, count, size int, factor int32)

	// values quantises 32 columns of count rows, a multiple of four, stride apart, with a scale for each column, and lays
	// them out as a panel. start gets the sums of columns times factor.
	values func(panel []int8, start []int32, cols, x []float32, stride, count int, factor int32)

	// embed computes x[i] = row[i]*scale + place[i], of signed bytes.
	embed func(x []float32, row []byte, scale float32, place []float32)
}

// offset is what flip adds to a byte.
func (k kernel) offset() int32 { return int32(k.flip) }

// stepwise is a product of one tile after the other.
func (k kernel) stepwise(out []float32, outStride int, rows []int8, scales []float32, panel []int8, start []int32,
	cols, bias []float32, n int, tile []int32) {
	for r := 0; r < len(scales); r += tileRows {
		k.tile(tile, panelCols, rows[r*n:], n, panel, start, n)
		k.scale(out[r*outStride:], outStride, tile, scales[r:r+tileRows], cols, bias)
	}
}
