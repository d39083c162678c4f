package encoder

import "golang.org/x/sys/cpu"

// kernels lists those that this CPU runs, the fastest first.
func kernels() []kernel {
	x := cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return []kernel{portable()}
	}
	// fp32 runs in registers of 256 bits everywhere. They do as well as longer ones for rows of this size.
	avx2 := kernel{
		name: "avx2", tile: tileAVX2,
		scale: scaleAVX2, quantise: quantiseAVX2, gelu: geluAVX2, norm: normAVX2, softmax: softmaxAVX2,
		keys: keysAVX2, values: valuesAVX2, embed: embedAVX2,
	}
	avx2.product = avx2.stepwise
	if !x.HasAVX512F || !x.HasAVX512VNNI {
		return []kernel{avx2, portable()}
	}
	vnni := avx2
	vnni.name, vnni.flip, vnni.tile, vnni.product = "avx512vnni", 0x80, tileVNNI, productVNNI
	return []kernel{vnni, avx2, portable()}
}

//go:noescape
func productVNNI(out []float32, outStride int, rows []int8, scales []float32, panel []int8, start []int32,
	cols, bias []float32, n int, tile []int32)

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
