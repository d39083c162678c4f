package detect

import (
	"context"
	"strings"
	"testing"
)

func BenchmarkLinear(b *testing.B) {
	l, err := newLinear()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1 << 10, 64 << 10} {
		text := strings.Repeat(prose, size/len(prose)+1)[:size]
		n := read(text, formOf(text))
		b.Run(map[bool]string{true: "1K", false: "64K"}[size == 1<<10], func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				l.Detect(context.Background(), Text{Channel: ToolResult, Text: text}, n)
			}
		})
	}
}
