package detect

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// wallRounds is how often each text is scanned in each way.
const wallRounds = 21

// TestWallTimes prints what scans take on one core and on those that are idle: the least and the median of the time that passes, and the
// median of all processors' time. It is no test. GATEHOUSE_WALL names sizes in KiB ("64", "4 8 16 32"), GATEHOUSE_ROWS files of rows besides. On a
// machine that does anything else the figures say nothing.
func TestWallTimes(t *testing.T) {
	sizes := os.Getenv("GATEHOUSE_WALL")
	if sizes == "" {
		t.Skip("GATEHOUSE_WALL is not set")
	}
	alone := set(t).Inline().Alone()
	several := among(alone, runtime.GOMAXPROCS(0))
	for _, field := range strings.Fields(sizes) {
		kib, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "%d KiB, ms\talone least\tmedian\tprocessors\tamong %d least\tmedian\tprocessors\tshare\t\n", kib, runtime.GOMAXPROCS(0))
		texts := wallTexts(t, kib<<10)
		var before, after []float64
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			one, more := wallTimes(Text{Channel: ToolResult, Text: texts[name]}, alone, several)
			fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", name, one.least, one.median, one.processors, more.least, more.median, more.processors, more.least/one.least)
			before, after = append(before, one.least), append(after, more.least)
		}
		for _, list := range [][]float64{before, after} {
			slices.Sort(list)
		}
		n := len(before)
		fmt.Fprintf(table, "median of texts\t%.2f\t\t\t%.2f\t\t\t\t\n", before[n/2], after[n/2])
		fmt.Fprintf(table, "slowest\t%.2f\t\t\t%.2f\t\t\t\t\n", before[n-1], after[n-1])
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// wallTexts are texts of one size: the rows of each file in one, and those of the tests of time.
func wallTexts(t *testing.T, size int) map[string]string {
	texts := map[string]string{}
	for sort, list := range map[string]map[string]string{"ordinary": ordinaryTexts, "nasty": nastyTexts, "attack": attackTexts(t)} {
		for name, part := range list {
			texts[sort+" "+name] = sized(part, size)
		}
	}
	for _, pattern := range strings.Fields(os.Getenv("GATEHOUSE_ROWS")) {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			for _, text := range rowsOf(t, name, size) { // the last is of the rows that are left
				if texts[filepath.Base(name)] = strings.ToValidUTF8(text[:min(size, len(text))], ""); len(text) >= size {
					break
				}
			}
		}
	}
	return texts
}

// wallTime is in milliseconds.
type wallTime struct{ least, median, processors float64 }

// wallTimes scans a text by two sets, in turn.
func wallTimes(text Text, one, other *Set) (a, b wallTime) {
	var passed, worked [2][]float64
	for range wallRounds {
		for i, s := range []*Set{one, other} {
			busy, start := processTime(), time.Now()
			s.Scan(context.Background(), text)
			passed[i] = append(passed[i], float64(time.Since(start).Microseconds())/1000)
			worked[i] = append(worked[i], float64((processTime()-busy).Microseconds())/1000)
		}
	}
	for i, out := range []*wallTime{&a, &b} {
		slices.Sort(passed[i])
		slices.Sort(worked[i])
		*out = wallTime{passed[i][0], passed[i][wallRounds/2], worked[i][wallRounds/2]}
	}
	return a, b
}
