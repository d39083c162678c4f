package encoder

// scratch is the memory that scoring one window takes. It is used again, so that scoring allocates nothing.
//
// Rows come in whole tiles: what stands in those behind the last token is left from before, is read, and reaches nothing
// that counts.
type scratch struct {
	rows int // tokens of this window, with [CLS] and [SEP]

	x, y   []float32 // the rows of a layer's input and output, and what is added to them
	wide   []float32 // queries, keys and values; or the feed-forward network's inner rows
	q      []int8    // what a matrix multiplies, and
	scales []float32 // the scale of each row
	tile   []int32
	pooled []float32

	queries, keys          []int8
	queryScales, keyScales []float32 // for each token and head
	context                []float32

	padded    int       // columns of scores: tokens, in whole panels
	masks     []float32 // for each column of scores
	keyCols   []float32
	keyStart  []int32
	keyPanels []int8

	values      int // rows of a panel of values: tokens, in whole fours
	valueCols   []float32
	valueStart  []int32
	valuePanels []int8

	scores    []int32 // of eight rows
	weights   []int8
	rowScales []float32
	sums      []float32
	zeros     []float32
}

func newScratch(s shape) *scratch {
	rows := (s.tokens + panelCols - 1) / panelCols * panelCols
	h, a, i, d := s.hidden, s.width(), s.intermediate, s.headSize
	return &scratch{
		x: make([]float32, rows*h), y: make([]float32, rows*h),
		wide: make([]float32, rows*max(3*a, i)),
		q:    make([]int8, rows*max(h, a, i)), scales: make([]float32, rows),
		tile: make([]int32, tileRows*panelCols), pooled: make([]float32, 0, s.pooledSize()),
		queries: make([]int8, rows*a), keys: make([]int8, rows*a),
		queryScales: make([]float32, rows*s.heads), keyScales: make([]float32, rows*s.heads),
		context: make([]float32, rows*a),
		masks:   make([]float32, rows), keyCols: make([]float32, rows), keyStart: make([]int32, rows),
		keyPanels: make([]int8, rows*d),
		valueCols: make([]float32, d), valueStart: make([]int32, d), valuePanels: make([]int8, rows*d),
		scores: make([]int32, tileRows*rows), weights: make([]int8, tileRows*rows),
		rowScales: make([]float32, tileRows), sums: make([]float32, tileRows), zeros: make([]float32, panelCols),
	}
}
