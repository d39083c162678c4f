package detect

import "strings"

// joined puts strings together that a program puts together: "ign" + "ore".
func (d *deriver) joined(s span) {
	text := d.plain.text
	var g decoding
	for at := s.start; at < s.end; {
		if size := joint(text[at:s.end]); size > 0 {
			at += size
			continue
		}
		end := at + 1
		for end < s.end && text[end] != '"' && text[end] != '\'' {
			end++
		}
		g.exact(text, at, end)
		at = end
	}
	d.add("joined", g)
}

// joint is the size of what stands between two strings that are put together: a quotation mark, an operator, a quotation mark.
func joint(text string) int {
	quote := text[0]
	if quote != '"' && quote != '\'' {
		return 0
	}
	const most = 8
	end := strings.IndexByte(text[1:min(len(text), most)], quote)
	if end < 0 {
		return 0
	}
	switch strings.Trim(text[1:1+end], " \t") {
	case "+", ".", "..", "&", "||":
		return end + 2
	}
	return 0
}
