package gemini

import (
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Incremental = (*answer)(nil)

// Next implements [wire.Incremental].
func (a *answer) Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	if a.live == nil {
		a.live = &writer{answer: a}
	}
	n := len(a.events)
	if !last {
		if n = a.ready(free); n == 0 {
			return nil, nil
		}
	}
	out, err := a.live.write(parts, a.events[:n], last)
	for _, e := range a.events[:n] {
		a.held -= len(e.raw)
	}
	clear(a.events[:n])
	a.events, a.sent = a.events[n:], a.sent+n
	return out, err
}

// Held implements [wire.Incremental].
func (a *answer) Held() int { return a.held }

// ready is how many of the events that are held may leave. Why a candidate ends is not known before all is decided.
func (a *answer) ready(free func(part int) int) int {
	for n, e := range a.events {
		if e.last {
			return n
		}
		if !a.gate.Open(len(e.refs), func(i int) bool { return e.refs[i].run == nil || e.refs[i].decided(free(e.refs[i].run.place)) }) {
			return n
		}
	}
	return len(a.events)
}

// decided reports whether nothing will change the piece of a run of which so many bytes are free.
func (r ref) decided(most int) bool {
	switch r.run.part.Kind {
	case gatehouse.ToolCall:
		return most >= gatehouse.Decided
	case gatehouse.Text, gatehouse.Reasoning, gatehouse.ToolResult:
		if !r.run.part.Signed {
			return r.end <= most
		}
	}
	return most == gatehouse.Everything
}

// additions writes the texts that are added behind events that have left, each as an event of its own.
func (w *writer) additions() {
	for _, index := range w.said() {
		e := w.edits[index]
		if e == nil || len(e.added) == 0 {
			continue
		}
		text := strings.Join(e.added, separator)
		if w.spoken[index] {
			text = separator + text
		}
		e.added = nil
		w.author(encode(generated{Candidates: []alternative{{Content: content{"model", []any{words{text}}}, Index: index}},
			Usage: w.counted(), Version: w.model, ID: w.id}))
	}
}

// said are the candidates that the answer has, in order.
func (a *answer) said() []int {
	var list []int
	for index := range a.candidates {
		list = append(list, index)
	}
	slices.Sort(list)
	return list
}

// author writes an event of the gateway's own.
func (w *writer) author(doc []byte) {
	switch {
	case !w.array:
		if len(w.out) > 0 && !wire.Ended(w.out) {
			w.out = append(w.out, "\n\n"...) // the stream was cut within an event
		}
		w.out = sse.Append(w.out, "", string(doc))
	case w.begun:
		w.out = append(append(w.out, ','), doc...)
	default:
		w.out = append(append(w.out, '['), doc...)
	}
	w.begun = true
}

func (a *answer) counted() tokens {
	return tokens{Prompt: int(a.usage.Input), Candidates: int(a.usage.Output), Total: int(a.usage.Input + a.usage.Output)}
}

// Stop implements [wire.Incremental]: every candidate ends with the text and the reason SAFETY.
func (a *answer) Stop(text string) []byte {
	w := a.live
	if w == nil {
		w = &writer{answer: a}
	}
	w.out = nil
	g := generated{Usage: a.counted(), Version: a.model, ID: a.id}
	for _, index := range a.said() {
		if a.candidates[index].first >= a.sent {
			continue
		}
		said := text
		if w.spoken[index] {
			said = separator + text
		}
		g.Candidates = append(g.Candidates, alternative{Content: content{"model", []any{words{said}}}, FinishReason: "SAFETY", Index: index})
	}
	if g.Candidates == nil {
		g.Candidates = []alternative{{Content: content{"model", []any{words{text}}}, FinishReason: "SAFETY"}}
	}
	if w.author(encode(g)); a.array {
		w.out = append(w.out, ']')
	}
	return w.out
}

// Comments implements [wire.Incremental]: the SDKs choke on them, and an array has no place for any.
func (*answer) Comments() bool { return false }
