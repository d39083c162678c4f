package encoder

// A panel is what a kernel multiplies by at a time: 32 columns of a matrix, laid out so that the four bytes of a column
// that meet four bytes of a row lie together. A tile is eight rows times a panel.
const (
	panelCols = 32
	tileRows  = 8
)

// matrix is a linear map with 8-bit weights, cut into panels.
type matrix struct {
	in     int
	panels []int8    // in*panelCols bytes each
	start  []int32   // of each column's sum
	scale  []float32 // of each column
	bias   []float32
}

// newMatrix lays out rows, one for each output, of in weights each.
func newMatrix(rows []byte, scale, bias []float32, in int, k kernel) matrix {
	m := matrix{in: in, panels: make([]int8, len(rows)), start: make([]int32, len(scale)), scale: scale, bias: bias}
	for o := range scale {
		panel := m.panels[o/panelCols*panelCols*in:][:panelCols*in]
		var sum int32
		for i, w := range rows[o*in : (o+1)*in] {
			panel[i/4*4*panelCols+o%panelCols*4+i%4] = int8(w)
			sum += int32(int8(w))
		}
		m.start[o] = -k.offset() * sum
	}
	return m
}

// panel gives the bytes of panel p and what its columns' sums start from.
func (m *matrix) panel(p int) (weights []int8, start []int32) {
	size := m.in * panelCols
	return m.panels[p*size : (p+1)*size], m.start[p*panelCols : (p+1)*panelCols]
}

// multiply writes rows of q, times the panels from first to last, into dst. Row r of q has the scale scales[r]. Rows
// are counted in tiles: up to seven more than asked for are read and written.
func (m *matrix) multiply(dst []float32, stride int, s *scratch, q []int8, rows, first, last int, k kernel) {
	scales := s.scales[:(rows+tileRows-1)/tileRows*tileRows]
	for p := first; p < last; p++ {
		weights, start := m.panel(p)
		cols := p * panelCols
		k.product(dst[cols-first*panelCols:], stride, q, scales, weights, start, m.scale[cols:cols+panelCols],
			m.bias[cols:cols+panelCols], m.in, s.tile)
	}
}
