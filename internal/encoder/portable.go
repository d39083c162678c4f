package encoder

import "math"

// portable is the kernel that every other is tested against.
func portable() kernel {
	k := kernel{
		name: "portable",
		tile: tilePortable, scale: scalePortable, quantise: quantisePortable, gelu: geluPortable, norm: normPortable,
		softmax: softmaxPortable, keys: keysPortable, values: valuesPortable, embed: embedPortable,
	}
	k.product = k.stepwise
	return k
}

func tilePortable(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int) {
	for r := range tileRows {
		var sums [panelCols]int32
		copy(sums[:], start)
		row := rows[r*stride : r*stride+n]
		for i := 0; i+4 <= len(row); i += 4 {
			a, b, c, d := int32(row[i]), int32(row[i+1]), int32(row[i+2]), int32(row[i+3])
			p := (*[4 * panelCols]int8)(panel[i*panelCols:])
			for j := range sums {
				sums[j] += a*int32(p[4*j]) + b*int32(p[4*j+1]) + c*int32(p[4*j+2]) + d*int32(p[4*j+3])
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}

func scalePortable(out []float32, stride int, tile []int32, rows, cols, bias []float32) {
	for r := range tileRows {
		line := out[r*stride : r*stride+panelCols]
		for c := range line {
			line[c] = float32(tile[r*panelCols+c])*rows[r]*cols[c] + bias[c]
		}
	}
}

// tiny keeps the inverse of a group of zeros finite.
const tiny = 1e-30

func quantisePortable(q []int8, x []float32, size int, scales []float32, flip byte) {
	for g := range scales {
		group := x[g*size : (g+1)*size]
		top := float32(0)
		for _, v := range group {
			top = max(top, float32(math.Abs(float64(v))))
		}
		scales[g] = top * (1.0 / 127)
		inverse := 127 / max(top, tiny)
		for i, v := range group {
			q[g*size+i] = int8(byte(round(v*inverse)) ^ flip)
		}
	}
}

// round gives the nearest byte of -127 to 127, the even one of two. What is no number becomes zero.
func round(v float32) int8 {
	switch r := math.RoundToEven(float64(v)); {
	case r > 127:
		return 127
	case r < -127:
		return -127
	case r != r:
		return 0
	default:
		return int8(r)
	}
}

// The polynomial in x² that, times x, is the normal distribution's integral from 0 to x, fitted where |x| <= 3.7 so that
// x times its error is least. Beyond, its value at the end times x is more than the integral's one half.
const (
	geluEnd = 3.7
	gelu0   = 0.3967735171318054
	gelu1   = -0.06295168399810791
	gelu2   = 0.007988899014890194
	gelu3   = -0.0006405945168808103
	gelu4   = 2.8588603527168743e-05
	gelu5   = -5.359506189961394e-07
)

func geluPortable(x []float32) {
	for i, v := range x {
		t := min(v*v, geluEnd*geluEnd)
		p := ((((gelu5*t+gelu4)*t+gelu3)*t+gelu2)*t+gelu1)*t + gelu0
		x[i] = v * (min(max(p*v, -0.5), 0.5) + 0.5)
	}
}

func normPortable(x, y, gamma, beta []float32, epsilon float32) {
	sum := float32(0)
	for i := range x {
		x[i] += y[i]
		sum += x[i]
	}
	mean := sum / float32(len(x))
	squares := float32(0)
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	inverse := 1 / float32(math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i := range x {
		x[i] = (x[i]-mean)*inverse*gamma[i] + beta[i]
	}
}

// The polynomial for two to the power of -1/2 to 1/2, fitted for the least relative error: 8e-5.
const (
	exp0 = 0.9999280571937561
	exp1 = 0.6932610273361206
	exp2 = 0.24261121451854706
	exp3 = 0.05517137795686722

	// lowest is an exponent whose weight is rounded to nothing.
	lowest = -64
)

func softmaxPortable(weights []int8, scores []int32, stride int, rows, cols, mask, sums []float32, flip byte) {
	var exponents [maxTokens + panelCols]float32
	for r := range tileRows {
		line, e := scores[r*stride:(r+1)*stride], exponents[:stride]
		top := float32(math.Inf(-1))
		for c, v := range line {
			e[c] = float32(v)*rows[r]*cols[c] + mask[c]
			top = max(top, e[c])
		}
		sum := int32(0)
		for c, v := range e {
			w := power(v - top)
			sum += w
			weights[r*stride+c] = int8(byte(w-halfWeight) ^ flip)
		}
		sums[r] = 1 / float32(sum)
	}
}

// power is topWeight times two to the power of v, which is not above zero, as an integer.
func power(v float32) int32 {
	v = max(v, lowest)
	whole := math.RoundToEven(float64(v))
	f := v - float32(whole)
	p := (((exp3*f+exp2)*f+exp1)*f + exp0) * topWeight
	// The power of two is added to the exponent's bits.
	p = math.Float32frombits(math.Float32bits(p) + uint32(int32(whole))<<23)
	return int32(math.RoundToEven(float64(p)))
}

func keysPortable(panel []int8, start []int32, tokens []int8, stride, count, size int, factor int32) {
	for t := range count {
		sum := int32(0)
		for i, v := range tokens[t*stride : t*stride+size] {
			panel[i/4*4*panelCols+t*4+i%4] = v
			sum += int32(v)
		}
		start[t] = factor * sum
	}
}

func valuesPortable(panel []int8, start []int32, cols, x []float32, stride, count int, factor int32) {
	for c := range panelCols {
		top := float32(0)
		for t := range count {
			top = max(top, float32(math.Abs(float64(x[t*stride+c]))))
		}
		cols[c] = top * (1.0 / 127)
		inverse := 127 / max(top, tiny)
		sum := int32(0)
		for t := range count {
			q := round(x[t*stride+c] * inverse)
			panel[t/4*4*panelCols+c*4+t%4] = q
			sum += int32(q)
		}
		start[c] = factor * sum
	}
}

func embedPortable(x []float32, row []byte, scale float32, place []float32) {
	for i := range x {
		x[i] = float32(int8(row[i]))*scale + place[i]
	}
}
