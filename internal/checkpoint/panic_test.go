package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// TestHelperPanicked: the log has the type and the stack of what a detector panicked with, wherever it ran, and not its text.
func TestHelperPanicked(t *testing.T) {
	err := panicked(&detect.Panic{Value: errors.New("my secret"), Stack: []byte("where it was")})
	if text := err.Error(); !strings.Contains(text, "*errors.errorString") || !strings.Contains(text, "where it was") || strings.Contains(text, "secret") {
		t.Error(text)
	}
}
