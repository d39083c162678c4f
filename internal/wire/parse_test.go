package wire_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestPathName(t *testing.T) {
	for key, want := range map[string]string{
		"reasoning_content":     "reasoning_content",
		"":                      "*",
		"the key is K1":         "*",
		"AKIAEXAMPLE":           "*",
		strings.Repeat("a", 41): "*",
	} {
		if got := wire.PathName(key); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
}
