package encoder

import "golang.org/x/sys/cpu"

// kernels lists those that this CPU runs, the fastest first.
func kernels() []kernel {
	if !cpu.ARM64.HasASIMDDP { // the extension with dot products of bytes
		return []kernel{portable()}
	}
	neon := portable()
	neon.name, neon.tile = "neon", tileNEON
	neon.product = neon.stepwise
	return []kernel{neon, portable()}
}

//go:noescape
func tileNEON(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)
