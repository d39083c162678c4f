package encoder

import "golang.org/x/sys/cpu"

// kernels lists those that this CPU runs, the fastest first.
func kernels() []kernel {
	var list []kernel
	x := cpu.X86
	if avx2 := x.HasAVX2 && x.HasFMA; avx2 && x.HasAVX512F && x.HasAVX512VNNI {
		list = append(list, vectors("avx512vnni", 0x80, tileVNNI), vectors("avx2", 0, tileAVX2))
	} else if avx2 {
		list = append(list, vectors("avx2", 0, tileAVX2))
	}
	return append(list, portable())
}

// vectors is a kernel whose fp32 runs in registers of 256 bits. They do as well as longer ones for rows of this size, and
// no CPU lowers its clock for them.
func vectors(name string, flip byte, tile func([]int32, int, []int8, int, []int8, []int32, int)) kernel {
	return kernel{
		name: name, flip: flip, tile: tile,
		scale: scaleAVX2, quantise: quantiseAVX2, gelu: geluAVX2, norm: normAVX2, softmax: softmaxAVX2,
		keys: keysAVX2, values: valuesAVX2, embed: embedAVX2,
	}
}

//go:noescape
func tileVNNI(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)

//go:noescape
func tileAVX2(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)

//go:noescape
func scaleAVX2(out []float32, stride int, tile []int32, rows, cols, bias []float32)

//go:noescape
func quantiseAVX2(q []int8, x []float32, size int, scales []float32, flip byte)

//go:noescape
func geluAVX2(x []float32)

//go:noescape
func normAVX2(x, y, gamma, beta []float32, epsilon float32)

//go:noescape
func softmaxAVX2(weights []int8, scores []int32, stride int, rows, cols, mask, sums []float32, flip byte)

//go:noescape
func keysAVX2(panel []int8, start []int32, tokens []int8, stride, count, size int, factor int32)

//go:noescape
func valuesAVX2(panel []int8, start []int32, cols, x []float32, stride, count int, factor int32)

//go:noescape
func embedAVX2(x []float32, row []byte, scale float32, place []float32)
