package encoder

// layerNorm is a layer normalisation.
type layerNorm struct{ gamma, beta []float32 }

// layer is attention and a feed-forward network, each followed by a sum with its input and a normalisation.
type layer struct {
	qkv      matrix // queries, keys and values, one after the other
	out      matrix
	attended layerNorm
	up, down matrix
	fed      layerNorm
}

// forward runs one layer over the rows of s.x. The last layer of a model that reads the row of [CLS] alone computes that
// row alone: the others matter only as its keys and values.
func (m *Model) forward(l *layer, s *scratch, last bool) {
	k, h, a := m.kernel, m.hidden, m.width()
	rows := s.rows
	if last && m.pooling == poolCLS {
		rows = 1
	}
	s.quantise(k, s.x, h, s.rows)
	panels := a / panelCols
	l.qkv.multiply(s.wide, 3*a, s, s.q, rows, 0, panels, k)
	l.qkv.multiply(s.wide[a:], 3*a, s, s.q, s.rows, panels, 3*panels, k)
	m.attend(s, rows)

	s.quantise(k, s.context, a, rows)
	l.out.multiply(s.y, h, s, s.q, rows, 0, h/panelCols, k)
	s.addNorm(k, l.attended, h, rows, m.epsilon)

	s.quantise(k, s.x, h, rows)
	l.up.multiply(s.wide, m.intermediate, s, s.q, rows, 0, m.intermediate/panelCols, k)
	s.activate(k, m.intermediate, rows)
	l.down.multiply(s.y, h, s, s.q, rows, 0, h/panelCols, k)
	s.addNorm(k, l.fed, h, rows, m.epsilon)
}

// quantise turns rows of x, of size numbers each, into bytes in s.q and their scales.
func (s *scratch) quantise(k kernel, x []float32, size, rows int) {
	for r := range rows {
		k.quantise(s.q[r*size:(r+1)*size], x[r*size:(r+1)*size], size, s.scales[r:r+1], k.flip)
	}
}

// activate is quantise of s.wide's rows after GELU: one row at a time, while it is in the cache.
func (s *scratch) activate(k kernel, size, rows int) {
	for r := range rows {
		row := s.wide[r*size : (r+1)*size]
		k.gelu(row)
		k.quantise(s.q[r*size:(r+1)*size], row, size, s.scales[r:r+1], k.flip)
	}
}

// addNorm adds y to x and normalises the sum.
func (s *scratch) addNorm(k kernel, n layerNorm, size, rows int, epsilon float32) {
	for r := range rows {
		at, end := r*size, (r+1)*size
		k.norm(s.x[at:end], s.y[at:end], n.gamma, n.beta, epsilon)
	}
}
