package detect

import "strings"

// joinedFields is how a view was made of fields.
const joinedFields = "fields"

const (
	// fieldMost bounds the values of fields that may continue each other, in bytes: what is longer says something by itself.
	fieldMost = 160
	// fieldsMost bounds how many values are joined.
	fieldsMost = 32
	// keyMost bounds the keys of such fields, in bytes.
	keyMost = 24
)

// field is a string value of JSON, with the stem of its key: "part" of "part2". Values of a list have none.
type field struct {
	span
	stem string
	list bool
}

// fields joins the string values of one object or list that continue each other, as their keys say: part1 and part2, a and b.
func (d *deriver) fields() {
	if !d.n.json {
		return
	}
	var run []field
	each(d.n.Original, func(f field, broken bool) {
		last := len(run) - 1
		if broken || last >= 0 && (run[last].stem != f.stem || run[last].list != f.list) || len(run) == fieldsMost {
			d.join(run)
			run = run[:0]
		}
		if f.end > f.start {
			run = append(run, f)
		}
	})
	d.join(run)
}

// join makes views of values in a row: as they are, and with blanks between.
func (d *deriver) join(run []field) {
	if len(run) < 2 {
		return
	}
	text, open, words := d.n.Original, 0, 0
	for i, f := range run {
		words += strings.Count(text[f.start:f.end], " ")
		if i+1 < len(run) && !strings.ContainsRune(".!?", rune(text[f.end-1])) {
			open++
		}
	}
	if open == 0 || words == 0 && len(run) < 3 || words*4 < len(run) && run[0].list {
		return
	}
	for _, between := range [...]string{"", " "} {
		g := d.blank()
		for i, f := range run {
			if i > 0 && between != "" {
				g.solid(between, f.start, f.start)
			}
			g.exact(text, f.start, f.end)
		}
		d.put(group{joinedFields, true, g})
		d.spare = g
	}
}

// each tells of the string values of a document in order, with what they are of. broken says that the value does not follow the one
// before in the same object or list.
func each(text string, see func(f field, broken bool)) {
	broken := true
	for i := 0; i < len(text); {
		if c := text[i]; c != '"' {
			broken = broken || c|0x20 == '{' || c|0x20 == '}' // and the brackets of lists
			i++
			continue
		}
		start := i + 1
		end := stringEnd(text, start)
		after := end + 1
		for after < len(text) && text[after] <= ' ' {
			after++
		}
		i = end + 1
		f := field{span: span{start, end}, list: true}
		if byteAt(text, after) == ':' {
			f.list, f.stem = false, stem(text[start:end])
			for after++; after < len(text) && text[after] <= ' '; after++ {
			}
			if byteAt(text, after) != '"' {
				i = after
				see(field{}, true)
				broken = true
				continue
			}
			f.start = after + 1
			f.end = stringEnd(text, f.start)
			i = f.end + 1
		}
		fits := f.end <= len(text) && f.end-f.start <= fieldMost && (f.list || f.stem != "")
		if !fits {
			f.end = f.start
		}
		see(f, broken || !fits)
		broken = !fits
	}
}

// stringEnd is the quotation mark that ends the string from byte i on.
func stringEnd(text string, i int) int {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return min(i, len(text))
}

// stem is what the keys of fields that continue each other have in common; empty where a key does not look like one of them.
func stem(key string) string {
	if len(key) > keyMost {
		return ""
	}
	key = lowerASCII(key)
	switch key {
	case "first", "second", "third", "fourth", "begin", "start", "head", "middle", "body", "rest", "end", "tail", "prefix", "suffix", "left", "right":
		return "order"
	}
	if len(key) == 1 {
		return "letter"
	}
	bare := len(key)
	for bare > 0 && digit(key[bare-1]) {
		bare--
	}
	if bare < len(key) {
		return "part " + key[:bare]
	}
	if len(key) > 2 && (key[len(key)-2] == '_' || key[len(key)-2] == '-') {
		return "part " + key[:len(key)-1]
	}
	return ""
}
