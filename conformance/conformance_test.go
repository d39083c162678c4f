// Package conformance holds the behaviour that every surface of the gateway must show, as case files that name no
// provider's format (README.md). A surface is added by adding one runner to surfaces.
package conformance_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/findings"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// seedVariable repeats a run: the borders of the upstream's chunks follow from it.
const seedVariable = "CONFORMANCE_SEED"

// surface is a way by which agents reach the gateway.
type surface interface {
	// Name says which surface it is and in which variant: openai/stream.
	Name() string
	// Run plays all turns of a case and reports what came of each.
	Run(t *testing.T, c *testcase, with equipment) []outcome
}

func surfaces() []surface {
	var list []surface
	for _, d := range []dialect{openAI{}, anthropic{}, gemini{}, gemini{array: true}, responses{}, completions{}} {
		if d != (gemini{array: true}) {
			list = append(list, door{d, false, "window"})
		}
		for _, mode := range []string{"buffer", "window", "auto"} {
			list = append(list, door{d, true, mode})
		}
	}
	return append(list, guarded{}, guarded{remote: true}, loop{})
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // nothing waits to be written any more
	return db
}

// plays reports whether a case runs on a surface.
func plays(s surface, c *testcase) bool {
	if p, ok := s.(interface{ Plays(*testcase) bool }); ok && !p.Plays(c) {
		return false
	}
	return c.on(s.Name())
}

// equipment is what a run is given: the ledger that all runs share, the credential of its own agent, and its dice.
type equipment struct {
	store  *store.Store
	key    string
	dice   *rand.Rand
	memory *findings.Memory // where findings come from; nil: from the detectors
}

// outcome is what one turn came to, in words that no format owns.
type outcome struct {
	status    int
	header    http.Header
	body      []byte
	cut       bool // the connection broke before the body's end
	early     bool // the headers came before all was decided; header has what the trailers told
	code      string
	answers   []answer
	usage     usage
	asked     []byte // the body that the client sent
	reached   []reached
	from      []byte // the body that the model answered, as bytes
	modelSaid []answer
	modelUsed usage
}

// reached is a request as it reached the model.
type reached struct {
	body    []byte
	results []string // texts of the tool results, in order
}

// answer is one alternative of a response.
type answer struct {
	text, reasoning, finish string // finish: stop, calls, refused
	calls                   []call
}

type usage struct{ input, output int }

func TestConformance(t *testing.T) {
	cases := load(t, "cases")
	seed := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d repeats this run", seedVariable, seed)
	db := openStore(t)
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			for _, s := range surfaces() {
				if plays(s, c) {
					t.Run(c.name+"/"+s.Name(), func(t *testing.T) { play(t, c, s, equipment{store: db}, seed) })
				}
			}
		}
	})
	if report, err := db.Verify(t.Context()); err != nil {
		t.Errorf("the chain does not hold after %d records: %v", report.Records, err)
	}
}

// play runs one case on one surface and looks at every turn.
func play(t *testing.T, c *testcase, s surface, with equipment, seed uint64) {
	t.Parallel()
	if c.skip != "" {
		t.Skip(c.skip)
	}
	db := with.store
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := c.name + "/" + s.Name()
	hash := fnv.New64a()
	hash.Write([]byte(id)) //nolint:errcheck // never fails
	with.key, with.dice = "key-"+id, rand.New(rand.NewPCG(seed, hash.Sum64()))
	outcomes := s.Run(t, c, with)
	_, ends := s.(interface{ Ends() bool })
	if len(outcomes) != len(c.turns) && !(ends && len(outcomes) < len(c.turns)) {
		t.Fatalf("%d turns were played, want %d", len(outcomes), len(c.turns))
	}
	records := since(t, db, head)
	format, _, _ := strings.Cut(s.Name(), "/")
	for i, o := range outcomes {
		turn := &c.turns[i]
		t.Run(fmt.Sprintf("turn %d", i+1), func(t *testing.T) {
			checkHeader(t, o)
			if list := records[o.header.Get("X-Mnemom-Request-Id")]; checkRecord(t, o, list) {
				checkCoverage(t, list[0])
				if !ends { // a loop asks more than once in a turn, and what is new then is not all of the turn
					checkContent(t, db, format, c, i, list[0])
				}
			}
			turn.want[format].check(t, o)
			checkApprovals(t, db, o, turn.want[format].Approvals)
			checkFidelity(t, turn, turn.want[format], o)
		})
	}
}
