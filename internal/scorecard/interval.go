package scorecard

import "math"

// z is how many standard deviations on both sides hold 95 % of a normal distribution.
const z = 1.959963984540054

// Share is how many of some documents are something, and the 95 % interval of the share (Wilson, 1927). Of none nothing is known: the
// interval is 0 to 1.
type Share struct {
	Count int     `json:"count"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// ShareOf is the share of count in n.
func ShareOf(count, n int) Share {
	s := Share{Count: count, Of: n, High: 1}
	if n > 0 {
		s.Share = float64(count) / float64(n)
		s.Low, s.High = wilson(s.Share, float64(n))
	}
	return s
}

// wilson is the interval of a share of so many documents.
func wilson(share, size float64) (low, high float64) {
	middle := share + z*z/(2*size)
	reach := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return max(0, (middle-reach)/(1+z*z/size)), min(1, (middle+reach)/(1+z*z/size))
}

// Portion is how many characters of all are something. The 95 % interval takes whole rows as what was drawn, because what happens to
// the characters of one row happens to most of them together: it is Wilson's for as many documents as would vary as much (Korn and
// Graubard, 1998; the variance is that of a ratio of sums, Cochran, Sampling Techniques, 6.4).
type Portion struct {
	Rows  int     `json:"rows"`
	Chars int     `json:"chars"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// portion sums rows up.
type portion struct {
	rows, part, whole             int
	partPart, partWhole, allWhole float64 // sums of squares and products
}

func (p *portion) add(part, whole int) {
	if whole == 0 {
		return
	}
	p.rows++
	p.part += part
	p.whole += whole
	x, n := float64(part), float64(whole)
	p.partPart += x * x
	p.partWhole += x * n
	p.allWhole += n * n
}

func (p *portion) result() Portion {
	out := Portion{Rows: p.rows, Chars: p.part, Of: p.whole, High: 1}
	if p.whole == 0 {
		return out
	}
	out.Share = float64(p.part) / float64(p.whole)
	out.Low, out.High = wilson(out.Share, p.size())
	return out
}

// size is how many documents would vary as much as these rows do. Rows that do not vary count by their lengths (Kish).
func (p *portion) size() float64 {
	whole := float64(p.whole)
	kish := whole * whole / p.allWhole
	r := float64(p.part) / whole
	rest := p.partPart - 2*r*p.partWhole + r*r*p.allWhole
	if p.rows < 2 || p.part == 0 || p.part == p.whole || rest <= 0 {
		return kish
	}
	rows := float64(p.rows)
	return r * (1 - r) * whole * whole / (rest * rows / (rows - 1))
}
