package session_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

func TestEachSessionHasATraceKeyOfItsOwn(t *testing.T) {
	seen := map[[16]byte]string{}
	for _, c := range [][3]string{{"key", "mnm-a", "s"}, {"key", "mnm-a", "t"}, {"key", "mnm-b", "s"}, {"other", "mnm-a", "s"}} {
		key, err := (&session.Resolver{Key: []byte(c[0])}).TraceKey(c[1], c[2])
		again, _ := (&session.Resolver{Key: []byte(c[0])}).TraceKey(c[1], c[2])
		if err != nil || key != again || seen[key] != "" || key == [16]byte{} {
			t.Errorf("%v: %x, then %x; %q has it, too; %v", c, key, again, seen[key], err)
		}
		seen[key] = c[1] + c[2]
	}
}
