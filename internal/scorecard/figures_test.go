package scorecard

import (
	"math"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

func near(a, b float64) bool { return math.Abs(a-b) < 0.00006 }

// TestShareAgainstPublishedIntervals: Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
func TestShareAgainstPublishedIntervals(t *testing.T) {
	for _, c := range []struct {
		count, of int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{20, 20, 1 - 0.1611, 1},
		{0, 0, 0, 1},
	} {
		if got := ShareOf(c.count, c.of); !near(got.Low, c.low) || !near(got.High, c.high) {
			t.Errorf("%d of %d: got %.4f to %.4f, want %.4f to %.4f", c.count, c.of, got.Low, got.High, c.low, c.high)
		}
	}
}

func TestPortion(t *testing.T) {
	var one, same, split portion
	one.add(5, 10)
	for range 20 {
		same.add(0, 7)
	}
	same.add(3, 0) // a row without any such characters says nothing
	for i := range 100 {
		split.add(10*(i%2), 10) // all of a row or nothing: as many documents as rows
	}
	for n := 2; n < 50; n++ {
		var p portion
		p.add(1, n)
		if got := p.result(); math.IsNaN(got.Low) || got.Low > 0.1 || got.High < 0.7 {
			t.Errorf("one row tells too much: %+v", got)
		}
	}
	if got := one.result(); got.Low > 0.1 || got.High < 0.9 {
		t.Errorf("one row tells too much: %+v", got)
	}
	if got := same.result(); got.Rows != 20 || got.Low != 0 || !near(got.High, 0.1611) {
		t.Errorf("rows that do not vary: %+v, want the interval of 0 of 20", got)
	}
	want := ShareOf(50, 100)
	if got := split.result(); math.Abs(got.Low-want.Low) > 0.001 || math.Abs(got.High-want.High) > 0.001 {
		t.Errorf("whole rows: %+v, want about %+v", got, want)
	}
}

func TestLimit(t *testing.T) {
	rising := make([]float64, 200)
	for i := range rising {
		rising[len(rising)-1-i] = float64(i) / 200
	}
	ties := make([]float64, 200)
	for i := range 10 {
		ties[i] = 0.9
	}
	for name, c := range map[string]struct {
		scores    []float64
		threshold float64
		above     int
	}{
		"two of two hundred are above":        {rising, 0.985, 2},
		"ties at the top: none is":            {ties, 0.9, 0},
		"fewer than a hundred: the highest":   {rising[:99], 0.995, 0},
		"ties below the top":                  {append([]float64{0.95}, ties[:199]...), 0.9, 1},
		"a hundred: one":                      {rising[:100], 0.99, 1},
		"all alike":                           {make([]float64, 300), 0, 0},
		"two hundred and ninety-nine: not 3 ": {append(make([]float64, 99), rising...), 0.985, 2},
	} {
		b := newBenign(detect.Input, c.scores, false)
		if !near(b.Threshold, c.threshold) || b.Reached.Count != c.above || b.Reached.Of != len(c.scores) {
			t.Errorf("%s: got %+v, want threshold %v and %d above", name, b.Limit, c.threshold, c.above)
		}
	}
}

func TestBelow(t *testing.T) {
	b := newBenign(detect.Input, []float64{0.2, 0, 0, 0.8}, false)
	for score, want := range map[float64]float64{0: 0.25, 0.1: 0.5, 0.2: 0.625, 0.8: 0.875, 1: 1} {
		if got := b.below(score); got != want {
			t.Errorf("%v: got %v, want %v", score, got, want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	all := make([]float64, 100)
	for i := range all {
		all[len(all)-1-i] = float64(i + 1)
	}
	if got := percentiles(all); got != (Percentiles{50, 99}) {
		t.Errorf("got %+v", got)
	}
	if got := percentiles([]float64{7}); got != (Percentiles{7, 7}) {
		t.Errorf("one: got %+v", got)
	}
}
