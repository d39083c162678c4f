package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// soakVariable is how many exchanges the long soak sends: make soak sets it.
const soakVariable = "GATEHOUSE_SOAK"

// Limits small enough that every one of them is reached within the soak.
const soakConfig = `
store: "sqlite:%s"
upstreams:
  openai: {format: openai, url: "%s"}
  anthropic: {format: anthropic, url: "%s"}
  gemini: {format: gemini, url: "%s"}
  gone: {format: openai, url: "http://127.0.0.1:1"}
limits: {body: 64KiB, depth: 32, scan: 20s, upstream_idle: 1s, stream_buffer: 64KiB}
tools: {rules: [{tool: rm_*, verdict: block}]}
alignment: {integrity_mode: enforce}
`

const (
	soakClients = 8
	// What may be open at the end beyond what was open after the warm-up.
	slackRoutines, slackDescriptors = 4, 4
	// mostStoreDescriptors are those of one connection that writes and eight that read: each has the database and its log
	// open, and all share an index. How many connections have read at a time is the load's doing, and SQLite keeps a
	// database open that a closed connection had until the last one closes: to close it would end the locks of the others
	// (sqlite.org/howtocorrupt.html, 2.2). So the store's are held to a bound, and not to what they were.
	mostStoreDescriptors = 2*(1+8) + 1
	// slackHeap is in bytes. One kilobyte that stays of each of ten thousand exchanges is three times as much.
	slackHeap = 3 << 20
)

// A few hundred exchanges of every kind always run; they find what leaks with each of one kind.
func TestExchangesLeaveNothing(t *testing.T) { soak(t, 600) }

// Ten thousand find what leaks seldom.
func TestSoak(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(soakVariable))
	if err != nil {
		t.Skipf("takes minutes: %s=10000 go test -race -run TestSoak ./conformance", soakVariable)
	}
	soak(t, n)
}

// soak sends n exchanges of hostile and ordinary kinds through a whole gateway, and looks at what they have left behind.
func soak(t *testing.T, n int) {
	s := startSoak(t)
	warm := max(len(mix()), n/10)
	s.send(warm)
	before := s.settle()
	s.send(n - warm)
	after := s.settle()
	for range 40 { // what ends by itself may take its time
		if after.within(before) {
			break
		}
		time.Sleep(250 * time.Millisecond)
		after = s.settle()
	}
	t.Logf("%d exchanges: goroutines %d → %d, descriptors %d → %d, of the store %d → %d, live heap %d → %d KiB", n,
		before.routines, after.routines, before.descriptors, after.descriptors, before.stored, after.stored, before.heap>>10, after.heap>>10)
	if !after.within(before) {
		t.Errorf("%d exchanges left something behind", n)
		if after.routines > before.routines+slackRoutines {
			t.Log(stacks())
		}
	}
	s.close()
	s.checkRecords(n)
}

// soaker is a gateway between clients and models that misbehave.
type soaker struct {
	t       *testing.T
	url     string
	file    string // of the store
	models  []*httptest.Server
	server  *httptest.Server
	gateway *gateway.Gateway
	client  *http.Client
	dice    *rand.Rand

	mu  sync.Mutex
	ids []string // of all exchanges, as the gateway put them into the header
}

func startSoak(t *testing.T) *soaker {
	s := &soaker{t: t, file: filepath.Join(t.TempDir(), "gatehouse.db"), dice: rand.New(rand.NewPCG(1, 2)), ids: make([]string, 0, 20000)}
	http.DefaultClient.CloseIdleConnections() // of the tests before
	log.SetOutput(io.Discard)                 // net/http tells there of models that say too much
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, d := range []dialect{openAI{}, anthropic{}, gemini{array: true}} {
		s.models = append(s.models, quiet(t, rogue{d}))
	}
	cfg, err := config.Parse("soak", fmt.Appendf(nil, soakConfig, s.file, s.models[0].URL, s.models[1].URL, s.models[2].URL))
	if err != nil {
		t.Fatal(err)
	}
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	if s.gateway, err = gateway.Open(t.Context(), cfg, gateway.Parts{Scanner: set}); err != nil {
		t.Fatal(err)
	}
	s.server = quiet(t, http.HandlerFunc(s.serve))
	s.url = s.server.URL
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: soakClients, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// quiet is a server that does not log what clients do to it.
func quiet(t *testing.T, h http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// serve hands a request to the gateway and keeps its id, also when the connection is given up.
func (s *soaker) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ids = append(s.ids, w.Header().Get("X-Mnemom-Request-Id"))
	}()
	s.gateway.ServeHTTP(w, r)
}

// send sends n exchanges: every kind in turn, in an order of its own each time round.
func (s *soaker) send(n int) {
	kinds := make(chan kind)
	go func() {
		defer close(kinds)
		for sent := 0; sent < n; {
			round := mix()
			s.dice.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
			for _, k := range round[:min(len(round), n-sent)] {
				kinds <- k
				sent++
			}
		}
	}()
	var all sync.WaitGroup
	for i := range soakClients {
		all.Go(func() {
			c := caller{soaker: s, key: fmt.Sprintf("sk-soak-%d", i%3)}
			for k := range kinds {
				c.exchange(k)
			}
		})
	}
	all.Wait()
}

// footprint is what a process holds.
type footprint struct {
	routines    int
	descriptors int    // of files and sockets beside the store's
	stored      int    // descriptors of the store's files
	heap        uint64 // live bytes
}

func (f footprint) within(before footprint) bool {
	return f.routines <= before.routines+slackRoutines && f.descriptors <= before.descriptors+slackDescriptors &&
		f.stored <= mostStoreDescriptors && f.heap <= before.heap+slackHeap
}

// settle ends all connections that only wait to be used again, and measures what is left.
func (s *soaker) settle() footprint {
	s.client.CloseIdleConnections()
	s.server.CloseClientConnections()
	for _, m := range s.models {
		m.CloseClientConnections()
	}
	last := -1
	for range 40 { // until nothing ends any more
		time.Sleep(50 * time.Millisecond)
		n := runtime.NumGoroutine()
		if n == last {
			break
		}
		last = n
	}
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := footprint{routines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	f.descriptors, f.stored = s.open()
	return f
}

// open counts the process's descriptors, those of the store's files apart; elsewhere than on Linux there is nothing to count.
func (s *soaker) open() (others, stored int) {
	const table = "/proc/self/fd"
	descriptors, err := os.ReadDir(table)
	if err != nil {
		return 0, 0
	}
	for _, d := range descriptors {
		if to, err := os.Readlink(filepath.Join(table, d.Name())); err == nil && strings.HasPrefix(to, s.file) {
			stored++
		} else {
			others++
		}
	}
	return others, stored
}

// stacks are those of all goroutines.
func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// close ends the gateway, so that everything is written.
func (s *soaker) close() {
	s.server.Close()
	if err := s.gateway.Close(); err != nil {
		s.t.Error(err)
	}
}

// checkRecords looks for the one record of every exchange, in a chain that holds.
func (s *soaker) checkRecords(n int) {
	t := s.t
	db, err := store.OpenReadOnly(context.Background(), "sqlite:"+s.file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	report, err := db.Verify(t.Context())
	if err != nil {
		t.Errorf("the chain does not hold: %v", err)
	}
	if len(s.ids) != n || report.Records != int64(n) {
		t.Errorf("%d exchanges were sent, the gateway saw %d and recorded %d", n, len(s.ids), report.Records)
	}
	var recorded []string
	for e, err := range db.Entries(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		var r audit.Record
		if err := json.Unmarshal(e.Record, &r); err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, r.ID)
	}
	slices.Sort(recorded)
	slices.Sort(s.ids)
	if !slices.Equal(recorded, s.ids) {
		t.Error("the records are not those of the exchanges")
	}
	if raw, err := os.ReadFile(s.file); err != nil || strings.Contains(string(raw), soakMark) {
		t.Errorf("the store holds content (%v)", err)
	}
}
