package detect

import (
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// BenchmarkSieve is what it costs to follow a text token by token, as it comes from a model: prose, and a program, which is full
// of signs and digits.
func BenchmarkSieve(b *testing.B) {
	s := set(b, "secrets", "pii")
	program, err := os.ReadFile("sieve.go")
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"prose":   strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen; 1984 was the year. ", 200),
		"program": string(program),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				v := s.Sieve(true, func([]gatehouse.Finding) {})
				for rest := text; rest != ""; {
					n := min(len(rest), 5)
					v.Write(b.Context(), rest[:n])
					rest = rest[n:]
				}
				v.Close(b.Context())
			}
		})
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(program)))
		for b.Loop() {
			s.Scan(b.Context(), Text{Channel: Output, Text: string(program)})
		}
	})
}

// BenchmarkWhole is what back does with an answer in one piece: a scan of it, and the sieve.
func BenchmarkWhole(b *testing.B) {
	s, err := Default()
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"number": "Your order 48213-99 has left; the parcel's number is 1Z 999 AA1 0123 456 784.",
		"object": `{"order": 48213, "state": "sent", "mail": "jane@example.org", "sum": 129.95}`,
		"prose":  strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen; 1984 was the year. ", 20),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := s.Scan(b.Context(), Text{Channel: Output, Text: text})
				v := s.Sieve(true, func([]gatehouse.Finding) {})
				v.WriteWhole(b.Context(), text, r)
				v.Close(b.Context())
			}
		})
	}
}
