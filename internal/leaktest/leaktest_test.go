package leaktest

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

func TestSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		go func() { <-end }()
		if settled(runtime.NumGoroutine, 0) {
			t.Error("a goroutine that waits was not seen")
		}
		close(end)
		if !settled(runtime.NumGoroutine, 1<<20) {
			t.Error("fewer goroutines than before were too many")
		}
	})
}

const own = "github.com/gatehouse-gateway/gatehouse/internal/leaktest."

func TestLeft(t *testing.T) {
	before, end := Count(own), make(chan struct{})
	for range 3 {
		go wait(end)
	}
	for Count(own) < before+3 { // they have begun
		runtime.Gosched()
	}
	synctest.Test(t, func(t *testing.T) {
		if left := Left(own+"wait", 0); !strings.Contains(left, own+"wait") {
			t.Errorf("three goroutines that wait were not seen in\n%s", left)
		}
	})
	close(end)
	if left := Left(own, before); left != "" {
		t.Errorf("what has ended is still there:\n%s", left)
	}
	if n := Count("no.such.package"); n != 0 {
		t.Errorf("%d goroutines of nobody", n)
	}
}

func wait(end chan struct{}) { <-end }
