package detect

import "strings"

// wordMost is the length of the longest common word.
const wordMost = 14

// segmented cuts words that are written without blanks into common words, with as few letters left over as can be.
func segmented(text string) string {
	low := strings.ToLower(text)
	const stray = 4 // what a letter of no word costs, where a word costs one
	cost, from := make([]int, len(low)+1), make([]int, len(low)+1)
	for i := 1; i <= len(low); i++ {
		cost[i], from[i] = cost[i-1]+stray, i-1
		for size := 1; size <= min(wordMost, i); size++ {
			if c := cost[i-size] + 1; c < cost[i] && common(low[i-size:i]) {
				cost[i], from[i] = c, i-size
			}
		}
	}
	var borders []int
	for i := len(low); i > 0; i = from[i] {
		if i-from[i] > 1 || len(borders) == 0 || borders[len(borders)-1]-i > 1 {
			borders = append(borders, i)
		}
	}
	var b strings.Builder
	last := 0
	for k := len(borders) - 1; k >= 0; k-- {
		b.WriteString(low[last:borders[k]])
		b.WriteByte(' ')
		last = borders[k]
	}
	return strings.TrimSpace(b.String())
}
