// Command check reads labelled texts, says what is wrong with them, and counts: go run ./train/check FILE…
package main

import (
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/train/rows"
)

func main() {
	status := 0
	for _, path := range os.Args[1:] {
		all, err := rows.Read(path)
		if err != nil {
			fmt.Println(err)
			status = 1
		}
		count(path, all)
	}
	os.Exit(status)
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
