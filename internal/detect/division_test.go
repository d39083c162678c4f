package detect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// among is a set whose scans have a crew, whatever their length, as if there were so many cores.
func among(s *Set, count int) *Set {
	crowded := *s
	crowded.cores = &cores{count: func() int { return count }}
	return &crowded
}

// rows are the texts of JSON lines, and all of each file in one, in parts of some size.
func rows(t *testing.T, size int, patterns ...string) (texts []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			texts = append(texts, rowsOf(t, name, size)...)
		}
	}
	return texts
}

func rowsOf(t *testing.T, name string, size int) (texts []string) {
	t.Helper()
	f, err := os.Open(name) //nolint:gosec // a file of ours
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var joined strings.Builder
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, row.Text)
		if joined.WriteString(row.Text + "\n"); joined.Len() >= size {
			texts = append(texts, joined.String())
			joined.Reset()
		}
	}
	return append(texts, joined.String())
}

// TestDivided: it does not matter how many goroutines scan a text. GATEHOUSE_ROWS names more files of rows.
func TestDivided(t *testing.T) {
	s := set(t).Inline()
	texts := rows(t, 64<<10, "../../train/authored/*.jsonl")
	if more := os.Getenv("GATEHOUSE_ROWS"); more != "" {
		texts = append(texts, rows(t, 64<<10, strings.Fields(more)...)...)
	}
	slow := maps.Clone(nastyTexts)
	maps.Copy(slow, attackTexts(t))
	maps.Copy(slow, ordinaryTexts)
	for _, part := range slow {
		for _, lead := range []string{"", `{"x":"`, "<p>\n"} {
			texts = append(texts, lead+sized(part, 64<<10))
		}
		texts = append(texts, sized(part, 300<<10))
	}
	work := make(chan string)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for text := range work {
				alike(t, s, text)
			}
		})
	}
	step := 1
	if slowed || testing.Short() {
		step = 7
	}
	for i := 0; i < len(texts); i += step {
		work <- texts[i]
	}
	close(work)
	group.Wait()
	for i := 0; i < len(texts); i += 499 { // what the transformer is given follows from the readings, too
		alike(t, set(t), texts[i])
	}
}

// alike compares what one goroutine finds in a text with what several do.
func alike(t *testing.T, s *Set, text string) {
	t.Helper()
	for _, channel := range []Channel{ToolResult, Input, Output} {
		given := Text{Channel: channel, Text: text}
		want, got := s.Alone().Scan(context.Background(), given), among(s, 4).Scan(context.Background(), given)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s of %d bytes, %.80q: %d findings, score %v, alone; %d and %v among four", channel, len(text), text, len(want.Findings), want.Score, len(got.Findings), got.Score)
		}
	}
}

// FuzzDivided: it does not matter how many goroutines scan a text.
func FuzzDivided(f *testing.F) {
	for _, part := range attackTexts(f) {
		f.Add(sized(part, 2000))
	}
	for _, part := range nastyTexts {
		f.Add(sized(part, 500))
	}
	s := set(f).Inline()
	f.Fuzz(func(t *testing.T, text string) { alike(t, s, text) })
}

// detector is one of a function.
type detector struct {
	name string
	do   func(ctx context.Context, n *Normalized) []gatehouse.Finding
}

func (d detector) Name() string { return d.name }

func (d detector) Detect(ctx context.Context, _ Text, n *Normalized) []gatehouse.Finding {
	return d.do(ctx, n)
}

// TestHelpersPanic: what a helper panics with the scan panics with, and nobody is left behind.
func TestHelpersPanic(t *testing.T) {
	cause := errors.New("a detector's")
	var at sync.Mutex
	at.Lock()
	s := among(&Set{cues: cueing, detectors: []Detector{
		detector{"waits", func(context.Context, *Normalized) []gatehouse.Finding { at.Lock(); return nil }},
		detector{"fails", func(context.Context, *Normalized) []gatehouse.Finding { defer at.Unlock(); panic(cause) }},
	}}, 2)
	for range 20 {
		func() {
			defer func() {
				v := recover()
				if p, ok := v.(*Panic); ok {
					if v = p.Value; !strings.Contains(string(p.Stack), "TestHelpersPanic") {
						t.Errorf("%s", p.Stack)
					}
				}
				if v != cause {
					t.Errorf("%v", v)
				}
				if busy := s.cores.busy.Load(); busy != 0 {
					t.Errorf("%d at work", busy)
				}
			}()
			scan(t, s, prose)
		}()
		at.TryLock()
	}
}

// TestHelperPanics: the goroutine that scans panics with what a helper did, begins nothing more, and tells the helper's stack.
func TestHelperPanics(t *testing.T) {
	two := &cores{count: func() int { return 2 }}
	two.begin()
	c, cause := two.crew(), errors.New("a detector's")
	failed := make(chan bool)
	c.add(2, func() { defer close(failed); panic(cause) })
	<-failed
	c.helpers.Wait()
	c.add(1, func() { t.Error("begun") })
	defer func() {
		p, ok := recover().(*Panic)
		if !ok || p.Value != cause || !strings.Contains(string(p.Stack), "TestHelperPanics") {
			t.Errorf("%+v", p)
		}
		if two.end(); two.busy.Load() != 0 {
			t.Errorf("%d at work", two.busy.Load())
		}
	}()
	c.finish()
}

// TestHelpersLeave: there are never more at work than cores, and none when the scan is over, whether its time is up or not.
func TestHelpersLeave(t *testing.T) {
	var s *Set
	var most sync.Map
	s = among(set(t).Inline(), 3)
	s.detectors = append(s.detectors, detector{"counts", func(context.Context, *Normalized) []gatehouse.Finding {
		most.Store(s.cores.busy.Load(), true)
		return nil
	}})
	text := Text{Channel: ToolResult, Text: sized(attackTexts(t)["all rules"], 64<<10)}
	before := runtime.NumGoroutine()
	for i := range 30 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*200*time.Microsecond)
		r := s.Scan(ctx, text)
		cancel()
		if ctx.Err() == nil && !r.Complete {
			t.Error("cut short")
		}
		if busy := s.cores.busy.Load(); busy != 0 {
			t.Fatalf("%d at work", busy)
		}
	}
	most.Range(func(busy, _ any) bool {
		if busy.(int64) > 3 {
			t.Errorf("%d at work", busy)
		}
		return true
	})
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestNoIdleCore: where as many scan as there are cores, each has its own alone.
func TestNoIdleCore(t *testing.T) {
	s := among(set(t).Inline(), 2)
	s.cores.begin()
	defer s.cores.end()
	s.detectors = append(s.detectors, detector{"counts", func(context.Context, *Normalized) []gatehouse.Finding {
		if busy := s.cores.busy.Load(); busy != 2 {
			t.Errorf("%d at work", busy)
		}
		return nil
	}})
	scan(t, s, sized(prose, 64<<10))
}

// TestDividedIsWatched: each detector tells of each reading once, whoever does how much of it.
func TestDividedIsWatched(t *testing.T) {
	s := set(t).Inline()
	for name, part := range attackTexts(t) {
		text := Text{Channel: ToolResult, Text: `{"x":"` + sized(part, 64<<10)}
		told := func(s *Set) map[string]int {
			var mu sync.Mutex
			times := map[string]int{}
			s.Watched(func(what string, took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if times[what]++; took < 0 {
					t.Errorf("%s takes %v", what, took)
				}
			}).Scan(context.Background(), text)
			return times
		}
		if alone, four := told(s.Alone()), told(among(s, 4)); !maps.Equal(alone, four) {
			t.Errorf("%s: %v alone, %v among four", name, alone, four)
		}
	}
}

// TestSecretRulesHaveTheirOwnIDs: findings of rules that are looked for apart are put in order by place and id.
func TestSecretRulesHaveTheirOwnIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range set(t, "secrets").detectors[0].(*secrets).rules {
		if seen[r.id] {
			t.Errorf("two rules %s", r.id)
		}
		seen[r.id] = true
	}
}
