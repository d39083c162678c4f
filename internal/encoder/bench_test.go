package encoder

import (
	"fmt"
	"testing"
)

// BenchmarkScore times one window of a model of MiniLM's sizes with random weights, on one goroutine.
func BenchmarkScore(b *testing.B) {
	for _, name := range Kernels() {
		for _, layers := range []int{3, 4, 6} {
			for _, pooling := range []int{poolCLS, poolMean} {
				m := randomModel(b, layers, pooling, name)
				for _, tokens := range []int{128, 256} {
					pool := map[int]string{poolCLS: "cls", poolMean: "mean"}[pooling]
					b.Run(fmt.Sprintf("%s/layers=%d/pool=%s/tokens=%d", name, layers, pool, tokens), func(b *testing.B) {
						window, logits := make([]Token, tokens-2), make([]float32, m.Outputs())
						for b.Loop() {
							if err := m.Score(b.Context(), window, logits); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}
