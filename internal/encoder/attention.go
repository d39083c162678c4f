package encoder

import "math"

// Attention's weights are kept in steps of 1/topWeight of the largest, less halfWeight to make them signed bytes.
const (
	topWeight  = 254
	halfWeight = topWeight / 2
)

// masked is far below every score, and far from what fp32 cannot hold.
const masked = -1e9

// attend writes the attention of the first rows over all rows into s.context. s.wide holds queries, keys and values.
// Products are of 8-bit integers: queries and keys have a scale for each token and head, values one for each column.
func (m *Model) attend(s *scratch, rows int) {
	a, d, k := m.width(), m.headSize, m.kernel
	wide := 3 * a
	for r := range s.rows {
		row, heads := s.wide[r*wide:(r+1)*wide], r*m.heads
		if r < rows {
			k.quantise(s.queries[r*a:(r+1)*a], row[:a], d, s.queryScales[heads:heads+m.heads], k.flip)
		}
		k.quantise(s.keys[r*a:(r+1)*a], row[a:2*a], d, s.keyScales[heads:heads+m.heads], 0)
	}
	for r := s.rows; r%4 != 0; r++ { // values are laid out by fours
		clear(s.wide[r*wide+2*a : (r+1)*wide])
	}
	s.mask()
	for h := range m.heads {
		s.layKeys(m, h)
		s.layValues(m, h)
		for r := 0; r < rows; r += tileRows {
			m.attendTile(s, r, h)
		}
	}
}

// mask readies the columns of scores behind the last token: they weigh nothing.
func (s *scratch) mask() {
	s.padded = (s.rows + panelCols - 1) / panelCols * panelCols
	clear(s.masks[:s.rows])
	for c := s.rows; c < s.padded; c++ {
		s.masks[c] = masked
		s.keyCols[c] = 0
	}
}

// layKeys lays out the keys of a head as panels whose columns are tokens.
func (s *scratch) layKeys(m *Model, head int) {
	a, d := m.width(), m.headSize
	for t := 0; t < s.rows; t += panelCols {
		count := min(panelCols, s.rows-t)
		m.kernel.keys(s.keyPanels[t*d:(t+panelCols)*d], s.keyStart[t:t+panelCols], s.keys[t*a+head*d:], a, count, d,
			-m.kernel.offset())
	}
	for t := range s.rows {
		s.keyCols[t] = s.keyScales[t*m.heads+head]
	}
}

// layValues lays out the values of a head as panels whose rows are tokens.
func (s *scratch) layValues(m *Model, head int) {
	a, d := m.width(), m.headSize
	s.values = (s.rows + 3) &^ 3
	for c := 0; c < d; c += panelCols {
		m.kernel.values(s.valuePanels[c*s.values:(c+panelCols)*s.values], s.valueStart[c:c+panelCols],
			s.valueCols[c:c+panelCols], s.wide[2*a+head*d+c:], 3*a, s.values, halfWeight-m.kernel.offset())
	}
}

// attendTile does one head of eight rows.
func (m *Model) attendTile(s *scratch, r, head int) {
	a, d, k := m.width(), m.headSize, m.kernel
	for p := 0; p < s.padded; p += panelCols {
		k.tile(s.scores[p:], s.padded, s.queries[r*a+head*d:], a, s.keyPanels[p*d:(p+panelCols)*d],
			s.keyStart[p:p+panelCols], d)
	}
	// Products become exponents of two, whose base the root of the head's size tempers.
	temperature := float32(math.Log2E / math.Sqrt(float64(d)))
	for i := range s.rowScales {
		s.rowScales[i] = s.queryScales[(r+i)*m.heads+head] * temperature
	}
	k.softmax(s.weights, s.scores, s.padded, s.rowScales, s.keyCols, s.masks, s.sums, k.flip)
	for c := 0; c < d; c += panelCols {
		k.tile(s.tile, panelCols, s.weights, s.padded, s.valuePanels[c*s.values:(c+panelCols)*s.values],
			s.valueStart[c:c+panelCols], s.values)
		k.scale(s.context[r*a+head*d+c:], a, s.tile, s.sums, s.valueCols[c:c+panelCols], s.zeros)
	}
}
