package detect

import (
	"errors"
	"strings"
	"testing"
)

// TestHelperPanicked: a log has the type and the stack of what a detector panicked with, wherever it ran, and not its text.
func TestHelperPanicked(t *testing.T) {
	text := Panicked(&Panic{Value: errors.New("my secret"), Stack: []byte("where it was")}).Error()
	if !strings.Contains(text, "*errors.errorString") || !strings.Contains(text, "where it was") || strings.Contains(text, "secret") {
		t.Error(text)
	}
	if text := Panicked(errors.New("my secret")).Error(); !strings.Contains(text, "TestHelperPanicked") || strings.Contains(text, "secret") {
		t.Error(text)
	}
}
