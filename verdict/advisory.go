package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Severity grades an advisory. It may be empty.
type Severity string

// Severities from least to most severe.
const (
	Info     Severity = "info"
	Warn     Severity = "warn"
	Critical Severity = "critical"
)

func (s Severity) rank() int {
	switch s {
	case Info:
		return 1
	case Warn:
		return 2
	case Critical:
		return 3
	}
	return 0
}

// Advisory is one entry of X-Mnemom-Advisory.
type Advisory struct {
	Source   string   `json:"source"`             // who says it: safe_house.dlp, gatehouse.coverage
	Text     string   `json:"text"`               // one line for people
	Severity Severity `json:"severity,omitempty"` // empty when not said
	ID       string   `json:"id,omitempty"`       // where to read more
}

// What a header carries at most. The full set is to be had from the gateway's API; the header is a budget for transport.
const (
	MaxAdvisories     = 5    // entries
	MaxAdvisoryHeader = 2048 // bytes, encoded; many proxies refuse header blocks of 8 KiB
)

// maxName bounds a source and an id, in encoded bytes, so that five of each leave room for texts.
const maxName = 128

// ParseAdvisories reads an X-Mnemom-Advisory header. An empty header has none. Members that it does not know are skipped,
// and more entries than [MaxAdvisories] are taken; a header that is not a JSON array of objects with a source and a text is
// an error, which does not quote it.
func ParseAdvisories(header string) ([]Advisory, error) {
	if strings.TrimSpace(header) == "" {
		return nil, nil
	}
	var entries []map[string]json.RawMessage // maps match names case-sensitively, struct tags would not
	if err := json.Unmarshal([]byte(header), &entries); err != nil || entries == nil {
		return nil, fmt.Errorf("parse %s: not a JSON array of objects", AdvisoryHeader)
	}
	list := make([]Advisory, 0, len(entries))
	for i, e := range entries {
		a, err := advisory(e)
		if err != nil {
			return nil, fmt.Errorf("parse %s: entry %d: %w", AdvisoryHeader, i+1, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func advisory(entry map[string]json.RawMessage) (Advisory, error) {
	var source, text, severity, id *string
	for name, to := range map[string]**string{"source": &source, "text": &text, "severity": &severity, "id": &id} {
		if raw, ok := entry[name]; ok && json.Unmarshal(raw, to) != nil {
			return Advisory{}, fmt.Errorf("%s is not a string", name)
		}
	}
	if source == nil || text == nil {
		return Advisory{}, errors.New("no source or no text")
	}
	a := Advisory{Source: *source, Text: *text}
	if severity != nil {
		a.Severity = Severity(*severity)
	}
	if id != nil {
		a.ID = *id
	}
	return a, nil
}

// FormatAdvisories writes an X-Mnemom-Advisory header: compact JSON in printable ASCII, most severe first and in the
// order given otherwise, at most [MaxAdvisories] entries and [MaxAdvisoryHeader] bytes. Texts that do not fit are shortened
// between runes and end in "..."; short texts leave their room to longer ones. An unknown severity is left out, and so is
// an id too long to be one. Without advisories the result is empty: the header is to be omitted.
func FormatAdvisories(list []Advisory) string {
	if len(list) == 0 {
		return ""
	}
	list = append([]Advisory(nil), list...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Severity.rank() > list[j].Severity.rank() })
	list = list[:min(len(list), MaxAdvisories)]

	heads, tails := make([]string, len(list)), make([]string, len(list))
	lengths := make([]int, len(list))
	room := MaxAdvisoryHeader - len("[]") - (len(list) - 1) // the commas between
	for i, a := range list {
		heads[i], tails[i] = `{"source":"`+shorten(a.Source, maxName)+`","text":"`, `"`+a.rest()+`}`
		lengths[i] = escapedLen(a.Text)
		room -= len(heads[i]) + len(tails[i])
	}
	each := share(lengths, room)
	var b strings.Builder
	for i, a := range list {
		b.WriteString(",")
		b.WriteString(heads[i])
		b.WriteString(shorten(a.Text, each))
		b.WriteString(tails[i])
	}
	return "[" + b.String()[1:] + "]"
}

// rest is what follows the text.
func (a Advisory) rest() string {
	var rest string
	if a.Severity.rank() > 0 {
		rest = `,"severity":"` + string(a.Severity) + `"`
	}
	if a.ID != "" && escapedLen(a.ID) <= maxName {
		rest += `,"id":"` + escape(a.ID) + `"`
	}
	return rest
}

// share is the length to which texts must be cut so that all of them fit into the room together.
func share(lengths []int, room int) int {
	sorted := append([]int(nil), lengths...)
	sort.Ints(sorted)
	for i, n := range sorted {
		if each := room / (len(sorted) - i); n > each {
			return each
		}
		room -= n
	}
	return sorted[len(sorted)-1]
}
