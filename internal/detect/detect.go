// Package detect finds what should not pass in a text: instructions aimed at the model, hidden text, secrets and personal data. Every
// finding names the bytes of the text as it was given. What is done about a finding is left to policy.
//
// A [Set] is a fixed list of detectors. Its work is linear in the text and its memory bounded: long texts go through in
// overlapping chunks, and the context's deadline is obeyed between them.
package detect

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// Version names the detector set. It changes when the same text could get other findings.
const Version = "2026.11.12"

// Channel says where a text stands in the exchange.
type Channel string

// The channels.
const (
	Input      Channel = "input"       // what the user or the client's application says
	ToolResult Channel = "tool_result" // what a tool returned, or says of itself
	Output     Channel = "output"      // what the model says
)

// Text is one text to scan. Tool is the tool's name, empty where there is none.
type Text struct {
	Channel Channel
	Tool    string
	Text    string // UTF-8; invalid bytes match nothing
}

// Result is what the detectors saw.
type Result struct {
	Findings  []gatehouse.Finding // sorted by Start; Part is not set
	Score     float64             // the highest injection score, 0..1
	Detectors []string            // names of those that ran
	Complete  bool                // false: the deadline or the number of findings cut the scan short
	Scanned   int                 // bytes inspected; when not complete, everything from here on is uninspected
	// Partial names detectors that have read less than all that was inspected: the transformer.
	Partial []gatehouse.Partial
}

// Detector finds one sort of thing. Detect is called for each chunk of a text, by many goroutines at once; offsets are
// those of t.Text. When the context ends it may return early with what it has.
type Detector interface {
	Name() string
	Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding
}

// Set is an ordered list of detectors. It is safe for concurrent use.
type Set struct {
	detectors []Detector
	cues      *cueTable                                 // what readings are made by
	model     *model                                    // reads what the detectors are not sure of; nil: nothing does
	without   string                                    // why there is none; empty: nobody has asked for one
	passages  *linear                                   // finds the passages that the model reads
	watch     func(detector string, took time.Duration) // nil: nobody asks
	cores     *cores                                    // what long texts may use; nil: the one that they came on
}

// Watched is the same set, and tells how long each detector took for each chunk, and how long reading it took: what is called
// "normalise" and "decode". watch is called by many goroutines at once.
func (s *Set) Watched(watch func(detector string, took time.Duration)) *Set {
	watched := *s
	watched.watch = watch
	return &watched
}

// Default is the set of all detectors there are.
func Default() (*Set, error) {
	patterns, err := newPatterns()
	if err != nil {
		return nil, fmt.Errorf("injection rules: %w", err)
	}
	secrets, err := newSecrets()
	if err != nil {
		return nil, fmt.Errorf("secret rules: %w", err)
	}
	linear, err := newLinear()
	if err != nil {
		return nil, fmt.Errorf("linear weights: %w", err)
	}
	model, err := shipped()
	if err != nil {
		return nil, fmt.Errorf("transformer: %w", err)
	}
	s := &Set{detectors: []Detector{patterns, linear, hidden{}, exfiltration{}, secrets, pii{}}, passages: linear, model: model, cues: secrets.cues, cores: &machine}
	if model == nil {
		s.without = skipAbsent
	}
	return s, nil
}

// Inline is the set without the transformer: what is done for every text, in microseconds.
func (s *Set) Inline() *Set {
	inline := *s
	if s.model != nil {
		inline.model, inline.without = nil, skipOff
	}
	return &inline
}

// Alone is the same set, and scans each text on one core.
func (s *Set) Alone() *Set {
	alone := *s
	alone.cores = nil
	return &alone
}

// Without says why the transformer reads nothing: "absent", "slow" or "off". It is empty when it reads, or was not asked for.
func (s *Set) Without() string {
	if s.model != nil && s.model.slow {
		return skipSlow
	}
	return s.without
}

// Version names the set: [Version], and the transformer's when there is one. It changes when the same text could get other findings.
func (s *Set) Version() string {
	if s.model == nil || s.model.slow {
		return Version
	}
	return withModel(s.model.version)
}

// Only is the set with the named detectors alone. A name that the set does not have is an error.
func (s *Set) Only(names ...string) (*Set, error) {
	only := &Set{passages: s.passages, cues: s.cues, cores: s.cores}
	for _, name := range names {
		if name == modelName && s.model != nil {
			only.model = s.model
			continue
		}
		d := s.named(name)
		if d == nil {
			return nil, fmt.Errorf("unknown detector %q: there are %s", name, strings.Join(s.Names(), ", "))
		}
		only.detectors = append(only.detectors, d)
	}
	return only, nil
}

func (s *Set) named(name string) Detector {
	for _, d := range s.detectors {
		if d.Name() == name {
			return d
		}
	}
	return nil
}

// Names are the detectors' names in order.
func (s *Set) Names() []string {
	names := s.inline()
	if s.model != nil {
		names = append(names, modelName)
	}
	return names
}

func (s *Set) inline() []string {
	names := make([]string, len(s.detectors))
	for i, d := range s.detectors {
		names[i] = d.Name()
	}
	return names
}

const (
	// chunkFrom is the length, in bytes, from which a text is scanned in chunks. Shorter ones take a few milliseconds.
	chunkFrom = 256 << 10
	// chunkSize keeps the time between two looks at the deadline to a few milliseconds.
	chunkSize = 64 << 10
	// chunkOverlap is longer than anything that is found: a PEM block of a 4096-bit key has 3.3 KiB.
	chunkOverlap = 8 << 10
	// findingsMax bounds the findings of one text, and with them the edits, the record (about 300 bytes each) and the memory that it can
	// cost. A server log of a megabyte with an address in every line has fewer.
	findingsMax = 10_000
)

// Scan runs the detectors over a text until the context ends or there are more findings than one text may have.
func (s *Set) Scan(ctx context.Context, t Text) Result {
	s.cores.begin()
	defer s.cores.end()
	r := Result{Detectors: s.inline(), Partial: s.unread(t)}
	c := s.cascade(t)
	written := formOf(t.Text)
	size := len(t.Text)
	if size >= chunkFrom {
		size = chunkSize
	}
	for {
		end := chunkEnd(t.Text, r.Scanned, size)
		r.take(s.chunk(ctx, t, r.Scanned, end, written, c))
		ended := ctx.Err() != nil
		switch {
		case ended:
		case end == len(t.Text):
			r.Scanned, r.Complete = end, true
		default:
			r.Scanned = runeStart(t.Text, end-chunkOverlap)
		}
		if r.full() || ended || r.Complete {
			break
		}
	}
	c.finish(ctx, &r) // before tidying: what the transformer lowers must not have stood for what others found in the same place
	r.Findings = tidy(r.Findings)
	return r
}

// take adds findings. Of those that are too faint to tell of, the score remains.
func (r *Result) take(list []gatehouse.Finding) {
	r.Findings = slices.Grow(r.Findings, len(list))
	for _, f := range list {
		if f.Kind == "injection" {
			r.Score = max(r.Score, f.Score)
			if f.Score < reportFrom {
				continue
			}
		}
		r.Findings = append(r.Findings, f)
	}
}

// full reports whether there are too many findings. The first that is too many, in order of the text, ends what counts as
// scanned.
func (r *Result) full() bool {
	if len(r.Findings) <= findingsMax {
		return false
	}
	r.Findings = tidy(r.Findings)
	if len(r.Findings) <= findingsMax {
		return false
	}
	end := findingsMax
	first := r.Findings[end].Start
	for end > 0 && r.Findings[end-1].Start == first {
		end--
	}
	r.Findings, r.Complete, r.Scanned = r.Findings[:end:end], false, min(r.Scanned, first)
	return true
}

// chunk runs the detectors over the readings of a part of a text, and lets c see both.
func (s *Set) chunk(ctx context.Context, t Text, from, to int, f form, c *cascade) []gatehouse.Finding {
	if ctx.Err() != nil || len(s.detectors) == 0 && c == nil {
		return nil
	}
	start := s.clock()
	main := read(t.Text[from:to], f)
	start = s.took("normalise", start)
	work := s.divide(ctx, t, to-from)
	defer work.end()
	readings := viewsBy(main, s.cues, work)
	s.took("decode", start)
	work.finish()
	var all []gatehouse.Finding
	for i, n := range readings {
		if found := n.report(s.seen(ctx, t, n, work, i), from, all); len(all) == 0 {
			all = found
		} else {
			all = append(all, found...)
		}
	}
	c.add(readings, from, to, all)
	return all
}

// report gives findings in a reading their places in what was given, which begins at byte from. What was put together of several
// parts tells nothing new where one of them alone was found.
func (n *Normalized) report(list []gatehouse.Finding, from int, known []gatehouse.Finding) []gatehouse.Finding {
	if len(list) == 0 {
		return nil
	}
	all := make([]gatehouse.Finding, 0, len(list))
	var alone map[string][]span // what was found already, of each kind
	if n.how == joinedFields {
		alone = coverage(known)
	}
	for _, f := range list {
		if n.parent == nil && n.smooth(span{f.Start, f.End}) {
			f.Start, f.End = from+f.Start, from+f.End
			all = append(all, f)
			continue
		}
		places := n.given(span{f.Start, f.End})
		if f.Detector == saturated {
			places = n.everything(span{f.Start, f.End})
		} else if slices.ContainsFunc(places, func(p span) bool { return touches(alone[f.Kind], from+p.start, from+p.end) }) {
			continue
		}
		for _, p := range places {
			f.Start, f.End = from+p.start, from+p.end
			all = append(all, f)
		}
	}
	return all
}

// coverage is the bytes that findings of each kind cover, in order.
func coverage(list []gatehouse.Finding) map[string][]span {
	kinds := map[string][]span{}
	for _, f := range list {
		kinds[f.Kind] = append(kinds[f.Kind], span{f.Start, f.End})
	}
	for kind, all := range kinds {
		slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
		out := all[:0]
		for _, s := range all {
			if last := len(out) - 1; last >= 0 && s.start <= out[last].end {
				out[last].end = max(out[last].end, s.end)
				continue
			}
			out = append(out, s)
		}
		kinds[kind] = out
	}
	return kinds
}

// touches reports whether one of some spans, which are in order and apart, shares a byte with start..end.
func touches(list []span, start, end int) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].end > start })
	return i < len(list) && list[i].start < end
}

// seen is what the detectors see in the i-th reading, which several may have looked at.
func (s *Set) seen(ctx context.Context, t Text, n *Normalized, work *division, i int) []gatehouse.Finding {
	if work != nil {
		return work.found(i)
	}
	return s.view(ctx, t, n)
}

// view runs the detectors over one reading.
func (s *Set) view(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	t.Text = n.Original
	var all []gatehouse.Finding
	for _, d := range s.detectors {
		if ctx.Err() != nil {
			break
		}
		if !n.suits(d.Name()) {
			continue
		}
		start := s.clock()
		if found := d.Detect(ctx, t, n); len(all) == 0 {
			all = found
		} else {
			all = append(all, found...)
		}
		s.took(d.Name(), start)
	}
	return all
}

// suits reports whether a detector is to look at a reading. Personal data is looked for in what was given alone: in what only a
// machine reads there is nobody's. An escape of some language means nothing where that language is not known, so it hides no secret.
func (n *Normalized) suits(detector string) bool {
	switch detector {
	case pii{}.Name():
		return n.depth == 0
	case (*secrets)(nil).Name():
		return n.how != programEscapes
	}
	return true
}

// clock is the time, when somebody asks for it.
func (s *Set) clock() (now time.Time) {
	if s.watch != nil {
		now = time.Now()
	}
	return now
}

// took tells what was done since start, and returns the time.
func (s *Set) took(what string, start time.Time) time.Time {
	now := s.clock()
	if s.watch != nil {
		s.watch(what, now.Sub(start))
	}
	return now
}

func chunkEnd(text string, from, size int) int {
	if from+size >= len(text) {
		return len(text)
	}
	return runeStart(text, from+size)
}

// runeStart is the start of the rune that holds byte i.
func runeStart(text string, i int) int {
	for j := 0; j < utf8.UTFMax && i > 0 && i < len(text) && !utf8.RuneStart(text[i]); j++ {
		i--
	}
	return i
}
