package detect

import "strings"

const (
	kubernetesRule = "kubernetes-secret-yaml"
	// manifestReach is how far from its kind the data of a secret may stand, and entryReach how far behind that its first entry, in bytes.
	manifestReach, entryReach = 300, 128
	keysMost, entriesMost     = 4, 64
	entryLeast                = 10 // characters of a value
	kindReach                 = 32 // bytes of the key kind and what stands behind it
)

// manifest looks for the data of a Kubernetes secret in YAML, or in JSON, around the word secret at start..end. gitleaks has an
// expression for it that takes milliseconds and finds the first entry.
func (l *secretLook) manifest(rule, start, end int) {
	before := strings.TrimRight(l.text[max(start-kindReach, 0):start], " \t\"'")
	if len(before) < 5 || !strings.EqualFold(before[len(before)-5:], "kind:") && !strings.HasSuffix(before, `kind":`) {
		return
	}
	p := l.at(rule)
	if !p.tries(start, triesMost) {
		return
	}
	below := l.under(rule, p, end, min(end+manifestReach, len(l.text)), len(l.text))
	if above := l.under(rule, p, max(start-2*manifestReach, p.done), start, start); !below && !above {
		p.fails++
	}
}

// under looks for entries that end before byte to under the keys between two bytes, and reports whether there are any.
func (l *secretLook) under(rule int, p *progress, from, until, to int) bool {
	for range keysMost {
		i := dataKey(l.text, from, until)
		if i < 0 {
			return false
		}
		if l.entries(rule, p, i, to) {
			return true
		}
		from = i
	}
	return false
}

// dataKey is where what stands under the key data, or stringData, begins; -1 where there is none.
func dataKey(text string, from, to int) int {
	for i := from; i+5 <= to; i++ {
		if text[i]|0x20 != 'd' || !strings.EqualFold(text[i:i+4], "data") || i > 0 && wordByte(text[i-1]) && !strings.HasSuffix(text[:i], "string") {
			continue
		}
		for end := i + 4; end < min(i+7, to); end++ {
			if text[end] == ':' {
				return end + 1
			}
		}
	}
	return -1
}

// entries reports names and their values in base64, from byte i on, and whether there were any.
func (l *secretLook) entries(rule int, p *progress, i, to int) bool {
	limit := min(i+entryReach, to)
	for n := range entriesMost {
		entry := l.entry(i, limit, to)
		if entry.end == 0 {
			return n > 0
		}
		if entry.start >= p.done {
			l.add(l.rules[rule], entry.start, entry.end)
			p.done = entry.end
		}
		i, limit = entry.end, min(entry.end+8, to)
	}
	return true
}

// entry is the first entry that begins between i and limit; empty where there is none.
func (l *secretLook) entry(i, limit, to int) span {
	for ; i < limit; i++ {
		if c := l.text[i]; c > ' ' && c != '{' && c != ',' {
			continue
		}
		start := i
		for start < limit && (l.text[start] <= ' ' || strings.IndexByte("{,\"'", l.text[start]) >= 0) {
			start++
		}
		key := start
		for key < to && (wordByte(l.text[key]) || l.text[key] == '.' || l.text[key] == '-') {
			key++
		}
		if end := l.entryValue(key, to); key > start && end > 0 {
			return span{start, end}
		}
		i = max(i, start-1)
	}
	return span{}
}

// entryValue is the end of the value behind a key that ends at byte i; 0 where there is none.
func (l *secretLook) entryValue(i, to int) int {
	if i < to && (l.text[i] == '"' || l.text[i] == '\'') {
		i++
	}
	if i >= to || l.text[i] != ':' {
		return 0
	}
	for i++; i < to && (l.text[i] <= ' ' || strings.IndexByte("|>+-", l.text[i]) >= 0); i++ {
		if l.text[i] == '\n' && strings.IndexByte("|>+- \t\r", l.text[i-1]) < 0 {
			return 0
		}
	}
	quote := i < to && (l.text[i] == '"' || l.text[i] == '\'')
	if quote {
		i++
	}
	start := i
	for i < to && tokenKinds[l.text[i]] != 0 && l.text[i] != '-' && l.text[i] != '_' {
		i++
	}
	if i-start < entryLeast {
		return 0
	}
	for n := 0; n < 3 && i < to && l.text[i] == '='; n++ {
		i++
	}
	if quote && i < to && (l.text[i] == '"' || l.text[i] == '\'') {
		i++
	}
	return i
}
