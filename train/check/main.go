// Command check reads labelled texts, says what is wrong with them, and counts: go run ./train/check FILE…
//
// With -jsonl it writes them as JSON lines instead, as gatehouse bench detect reads them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/train/rows"
)

func main() {
	lines := flag.Bool("jsonl", false, "write the rows as JSON lines")
	flag.Parse()
	status := 0
	for _, path := range flag.Args() {
		all, err := rows.Read(path)
		if err != nil {
			fmt.Println(err)
			status = 1
		}
		if *lines {
			status = max(status, write(all))
		} else {
			count(path, all)
		}
	}
	os.Exit(status)
}

// write prints rows with their payloads as spans of characters.
func write(all []rows.Row) (status int) {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, r := range all {
		row := struct {
			rows.Row
			Spans [][2]int `json:"spans,omitempty"`
		}{Row: r}
		for _, s := range r.Spans {
			from := utf8.RuneCountInString(r.Text[:s[0]])
			row.Spans = append(row.Spans, [2]int{from, from + utf8.RuneCountInString(r.Text[s[0]:s[1]])})
		}
		if err := out.Encode(row); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func count(path string, all []rows.Row) {
	var lengths []int
	attacks, seen := 0, map[string]string{}
	langs, kinds, carriers, families := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range all {
		attacks += r.Label
		lengths = append(lengths, utf8.RuneCountInString(r.Text))
		langs[r.Lang]++
		kinds[r.Kind]++
		carriers[r.Carrier]++
		families[r.Family]++
		if first, twice := seen[r.Text]; twice {
			fmt.Printf("%s: %s is %s again\n", path, r.ID, first)
		}
		seen[r.Text] = r.ID
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(lengths)
	at := func(share float64) int { return lengths[int(share*float64(len(lengths)-1))] }
	fmt.Printf("%s: %d rows, %d attacks, characters p10 %d p50 %d p90 %d\n", path, len(all), attacks, at(.1), at(.5), at(.9))
	for _, m := range []map[string]int{langs, kinds, carriers, families} {
		fmt.Println("  ", m)
	}
}
