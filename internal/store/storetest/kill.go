package storetest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

const (
	childURL  = "STORETEST_APPEND_TO" // set in the child: the database to append to
	childName = "STORETEST_NAME"      // what its records are called
)

// Child appends records, or asks for approvals and gives them, without end, when this process is the child that a kill test
// started; then it does not return. TestMain calls it first.
func Child() bool {
	var err error
	if url := os.Getenv(childURL); url != "" {
		err = appendForever(url, os.Getenv(childName))
	} else if url := os.Getenv(childGate); url != "" {
		err = approveForever(url)
	} else {
		return false
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
	return true
}

func appendForever(url, name string) error {
	s, err := store.Open(context.Background(), url)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for g := range 8 {
		go func() {
			for i := 0; ; i++ {
				id, durable := fmt.Sprintf("%s-%d-%d", name, g, i), i%3 != 0
				u := update("mnm-"+name, "s", time.Now(), id, id)
				if err := s.Append(context.Background(), Record(id), u, durable); err != nil {
					failed <- err
				}
				if durable {
					os.Stdout.WriteString(id + "\n") // one write: no line is torn or held back
				}
			}
		}()
	}
	return <-failed
}

func testKill(t *testing.T, b Backend) {
	url := b.URL(t)
	open(t, url).Close()
	promised := map[string]bool{}
	for round := range 5 {
		var all sync.WaitGroup
		var mu sync.Mutex
		// Two processes at once on one database, killed at different moments.
		for n := range 2 {
			all.Go(func() {
				ids := runAndDie(t, childURL+"="+url, fmt.Sprintf("%s=%d-%d", childName, round, n))
				mu.Lock()
				defer mu.Unlock()
				for _, id := range ids {
					promised[id] = true
				}
			})
		}
		all.Wait()
		s := open(t, url)
		h, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		verified(t, s, h.Count)
		there := map[string]bool{}
		for _, id := range ids(t, s) {
			there[id] = true
		}
		for id := range promised {
			if !there[id] {
				t.Errorf("round %d: %s was promised and is not there", round, id)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: %d records, %d of them promised", round, h.Count, len(promised))
	}
	if len(promised) == 0 {
		t.Error("nothing was appended, so nothing was tested")
	}
}

// runAndDie runs a child, kills it, and returns what it printed.
func runAndDie(t *testing.T, env ...string) (printed []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	lines := bufio.NewScanner(out)
	var kill *time.Timer
	for lines.Scan() {
		if kill == nil { // it writes: from now on any moment will do
			kill = time.AfterFunc(time.Duration(rand.IntN(400))*time.Millisecond, func() { cmd.Process.Kill() })
		}
		printed = append(printed, lines.Text())
	}
	if cmd.Wait() == nil || kill == nil || cmd.ProcessState.Exited() {
		t.Error("the child ended by itself")
	}
	return printed
}
