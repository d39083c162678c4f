package gateway_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// TestGateRate asks the tool-call gate 1,000 times a second, and beside it a bare handler that reads the question and commits a
// record of the same kind, in turn. Latency counts from the scheduled time of each request.
func TestGateRate(t *testing.T) {
	if os.Getenv("GATERATE") == "" {
		t.Skip("takes two cores for a minute: set GATERATE=1, or run make gate-rate")
	}
	const policy = "store: %s\ntools: {flag: [], rules: [{tool: rm, verdict: block}, {tool: mail, verdict: flag}]}\n"
	db := "sqlite:" + t.TempDir() + "/g.db"
	cfg, err := config.Parse("gate.yaml", fmt.Appendf(nil, policy, db))
	if err != nil {
		t.Fatal(err)
	}
	g, err := open(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	gate := httptest.NewServer(g)
	defer gate.Close()
	floor := httptest.NewServer(bare(t))
	defer floor.Close()

	for verdict := range strings.FieldsSeq(cmp.Or(os.Getenv("GATERATE_VERDICTS"), "allow block flag")) {
		tool := map[string]string{"allow": "search", "block": "rm", "flag": "mail"}[verdict]
		var ratios []float64
		for round := range 5 {
			f := latencies(t, floor.URL, tool)
			l := latencies(t, gate.URL+"/v1/checkpoints/tool-call", tool)
			p50, p99, base := at(l, 0.5), at(l, 0.99), at(f, 0.99)
			ratios = append(ratios, float64(p99)/float64(base))
			t.Logf("%s %d: gate p50 %v p99 %v; bare handler p50 %v p99 %v; p99 %.2fx", verdict, round, p50, p99, at(f, 0.5), base, ratios[round])
		}
		slices.Sort(ratios)
		t.Logf("%s: p99 %.2fx (median of 5)", verdict, ratios[2])
	}
}

// bare reads a question and commits a record, durably.
func bare(t *testing.T) http.Handler {
	db, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/f.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		rec := audit.Record{ID: uuid.NewString(), Type: "exchange", Time: time.Now(), Surface: "api", Status: 200,
			Decisions: []gatehouse.Decision{{At: gatehouse.Autonomy, Verdict: gatehouse.Block}}}
		if err := db.Append(r.Context(), rec, nil, true); err != nil {
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte(`{"verdict":"block"}`)) //nolint:errcheck // the client counts what comes
	})
}

// latencies asks 1,000 times a second for three seconds, each time with other arguments.
func latencies(t *testing.T, url, tool string) []time.Duration {
	t.Helper()
	const rate, seconds = 1000, 3
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var all []time.Duration
	var asking sync.WaitGroup
	start := time.Now()
	for i := range rate * seconds {
		due := start.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		asking.Go(func() {
			body := fmt.Sprintf(`{"session":"s%d","call_id":"c%d","tool":%q,"arguments":{"to":"someone-%d@example.com","subject":"Minutes","body":%q}}`,
				i%100, i, tool, i, strings.Repeat("The minutes of the meeting are attached. ", 10))
			req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer sk-rate")
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, res.Body) //nolint:errcheck // its status says enough
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("status %d", res.StatusCode)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(due))
		})
	}
	asking.Wait()
	slices.Sort(all)
	return all
}

func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[int(float64(len(sorted)-1)*share)].Round(10 * time.Microsecond)
}
