package detect

import (
	"context"
	"strings"
	"testing"
)

// prose is clean text of a tool result, with some of the words that rules look for.
const prose = `The quarterly report lists 14 open tickets. Access to the shared folder was granted on Monday; the key to the
store room is at reception. Please review the budget draft before Thursday, and forward comments to Dana. The system was
updated at 02:00, no errors since. Customers who changed their mind may return goods within 30 days, see the instructions
on the back of the receipt. Note to the team: the token machine in the lobby takes coins only.
`

func BenchmarkScan1K(b *testing.B)  { benchmark(b, 1<<10) }
func BenchmarkScan64K(b *testing.B) { benchmark(b, 64<<10) }

func benchmark(b *testing.B, size int) {
	s := set(b)
	text := Text{Channel: ToolResult, Text: strings.Repeat(prose, size/len(prose)+1)[:size]}
	b.SetBytes(int64(size))
	for b.Loop() {
		s.Scan(context.Background(), text)
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		if _, err := Default(); err != nil {
			b.Fatal(err)
		}
	}
}
