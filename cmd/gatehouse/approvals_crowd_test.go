//go:build !race

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

var residentPattern = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident is the memory of a process in bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("the memory of another process cannot be read here")
	}
	kB, err := strconv.Atoi(string(residentPattern.FindSubmatch(raw)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// TestCrowdOfWaiters parks requests for pending approvals and measures what each of them costs the gateway's process, buffers of
// net/http included. The race detector makes everything larger. One decision wakes those who wait for it, and nobody else.
func TestCrowdOfWaiters(t *testing.T) {
	const (
		each   = 24 << 10               // bytes of one parked request
		within = 100 * time.Millisecond // from a decision's answer to that of its waiters
		per    = 50                     // waiters for one approval
	)
	crowd := 10_000
	if testing.Short() {
		crowd = 500
	}
	dir := t.TempDir()
	file, url := filepath.Join(dir, "gatehouse.yaml"), "sqlite:"+filepath.Join(dir, "gatehouse.db")
	writeFile(t, file, "listen: 127.0.0.1:0\nstore: "+url+"\n")
	ids, _ := waitingCalls(t, url, crowd/per)
	address, pid := serveChild(t, file, crowdToken)
	ask := func(id string) net.Conn {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "GET /v1/approvals/%s?wait=60 HTTP/1.1\r\nHost: localhost\r\nX-Mnemom-Api-Key: %s\r\nUser-Agent: crowd\r\nAccept: */*\r\n\r\n", id, crowdToken)
		return c
	}
	for range 100 { // what the first requests bring into memory is no waiter's
		said := askWith(t, http.DefaultClient, "GET", "http://"+address+"/v1/approvals/"+ids[0], "", "X-Mnemom-Api-Key", crowdToken)
		if said.status != http.StatusOK {
			t.Fatalf("%d %s", said.status, said.body)
		}
	}
	before := resident(t, pid)
	parked := make([]net.Conn, crowd)
	start := time.Now()
	for i := range parked {
		parked[i] = ask(ids[i%len(ids)])
	}
	for last := 0; last != resident(t, pid); time.Sleep(500 * time.Millisecond) {
		last = resident(t, pid)
	}
	cost := (resident(t, pid) - before) / crowd
	t.Logf("%d parked after %v: %d bytes each", crowd, time.Since(start).Round(time.Millisecond), cost)
	if cost > each && !testing.Short() {
		t.Errorf("%d bytes for each, want at most %d", cost, each)
	}

	said := askWith(t, http.DefaultClient, "POST", "http://"+address+"/v1/approvals/"+ids[1]+"/approve", "{}", "X-Mnemom-Api-Key", crowdToken)
	decided := time.Now()
	if said.status != http.StatusOK {
		t.Fatalf("%d %s", said.status, said.body)
	}
	var took []time.Duration
	for i, c := range parked {
		if i%len(ids) != 1 {
			continue
		}
		c.SetReadDeadline(time.Now().Add(5 * time.Second)) //nolint:errcheck // it has one
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		var body struct{ ID, State string }
		err = json.NewDecoder(res.Body).Decode(&body)
		res.Body.Close()
		if took = append(took, time.Since(decided)); err != nil || body.State != "approved" || body.ID != ids[1] {
			t.Errorf("%+v, %v", body, err)
		}
	}
	slices.Sort(took)
	t.Logf("its %d waiters heard of a decision within %v", len(took), took[len(took)-1])
	if len(took) != per || took[len(took)-1] > within {
		t.Errorf("%d waiters heard within %v, want %d within %v", len(took), took[len(took)-1], per, within)
	}
	b := make([]byte, 1)
	for i, c := range parked {
		if i%len(ids) == 1 {
			continue
		}
		c.SetReadDeadline(time.Now().Add(50 * time.Microsecond)) //nolint:errcheck // it has one
		if n, err := c.Read(b); n > 0 || !os.IsTimeout(err) {
			t.Fatalf("a waiter for another approval is not parked any more: %d bytes, %v", n, err)
		}
	}
}
