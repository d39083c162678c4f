package telemetry

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gatehouse-gateway/gatehouse"
)

// metrics are what is counted. Every label has few values: they come from the code or the configuration. Where that holds
// only as long as every surface keeps what clients say out of its exchanges, values beyond the first 64 count as one.
type metrics struct {
	registry *prometheus.Registry

	exchanges *prometheus.CounterVec
	durations *prometheus.HistogramVec
	tokens    *prometheus.CounterVec
	errors    *prometheus.CounterVec
	findings  *prometheus.CounterVec
	skipped   *prometheus.CounterVec
	partial   *prometheus.CounterVec
	calls     *prometheus.CounterVec
	judged    *prometheus.CounterVec
	record    prometheus.Observer
	detectors *prometheus.HistogramVec

	checkpoints map[gatehouse.Checkpoint]*checkpointMetrics
	lanes       sync.Map // lane → *laneMetrics

	surfaces, upstreams, codes, kinds, stages, verdicts, reasons words
}

// checkpointMetrics are looked up once, so that an exchange need not.
type checkpointMetrics struct {
	duration      prometheus.Observer
	outcomes      map[gatehouse.Outcome]prometheus.Counter
	stops, failed prometheus.Counter
}

// lane is where an exchange came in and went. The upstream is a name of the configuration, or empty.
type lane struct{ surface, upstream string }

type laneMetrics struct {
	duration      prometheus.Observer
	statuses      [6]prometheus.Counter // by class; [0]: none was sent
	input, output prometheus.Counter
}

func newMetrics() *metrics {
	// Bounds of the histograms, in seconds.
	exchange := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	work := []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gatehouse_" + name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	histogram := func(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "gatehouse_" + name, Help: help, Buckets: bounds}, labels)
		r.MustRegister(v)
		return v
	}
	m := &metrics{
		registry:  r,
		exchanges: counter("exchanges_total", "Exchanges, by the class of the status that the client got.", "surface", "upstream", "status"),
		durations: histogram("exchange_duration_seconds", "From the request's headers to the written record; the model's time included.", exchange, "surface", "upstream"),
		tokens:    counter("tokens_total", "Tokens by the provider's own count.", "upstream", "direction"),
		errors:    counter("errors_total", "Exchanges that went wrong or were refused, by error code.", "code"),
		findings:  counter("findings_total", "What detectors saw.", "checkpoint", "kind", "detector"),
		skipped:   counter("parts_skipped_total", "Parts that no detector read, by reason.", "checkpoint", "reason"),
		partial:   counter("parts_partly_read_total", "Parts that a detector has read less of than the others, by reason.", "checkpoint", "detector", "reason"),
		calls:     counter("tool_calls_total", "Tool calls of models, by what policy says of them.", "verdict"),
		judged:    counter("judge_answers_total", "Texts that the judge was asked about, by its label, or by why there is none.", "answer"),
		detectors: histogram("detector_duration_seconds", "One detector over one chunk of text.", work, "detector"),
		record:    histogram("record_duration_seconds", "Writing the audit record.", work).WithLabelValues(),
	}
	durations := histogram("checkpoint_duration_seconds", "One check.", work, "checkpoint")
	decisions := counter("decisions_total", "Decisions of checkpoints, by what they did.", "checkpoint", "outcome")
	stops := counter("stops_total", "Exchanges that a checkpoint ended.", "checkpoint")
	failures := counter("checkpoint_failures_total", "Checks that could not decide.", "checkpoint")
	m.checkpoints = map[gatehouse.Checkpoint]*checkpointMetrics{}
	for _, at := range gatehouse.Checkpoints {
		c := &checkpointMetrics{duration: durations.WithLabelValues(string(at)), stops: stops.WithLabelValues(string(at)),
			failed: failures.WithLabelValues(string(at)), outcomes: map[gatehouse.Outcome]prometheus.Counter{}}
		for _, o := range []gatehouse.Outcome{gatehouse.Pass, gatehouse.Observed, gatehouse.Nudged, gatehouse.Enforced} {
			c.outcomes[o] = decisions.WithLabelValues(string(at), string(o))
		}
		m.checkpoints[at] = c
	}
	return m
}

// exchange counts one, once.
func (m *metrics) exchange(x *gatehouse.Exchange, took, record time.Duration) {
	at := lane{x.Surface, x.Upstream}
	if at.surface == "sdk" { // its caller names the upstream, and so could use up the label
		at.upstream = ""
	}
	l := m.lane(at)
	l.statuses[class(x.Status)].Inc()
	l.duration.Observe(took.Seconds())
	m.record.Observe(record.Seconds())
	if x.Usage.Input > 0 {
		l.input.Add(float64(x.Usage.Input))
	}
	if x.Usage.Output > 0 {
		l.output.Add(float64(x.Usage.Output))
	}
	if x.Error != "" {
		m.errors.WithLabelValues(m.codes.known(x.Error)).Inc()
	}
	for i := range x.Decisions {
		m.decision(&x.Decisions[i])
	}
}

func (m *metrics) decision(d *gatehouse.Decision) {
	c := m.checkpoints[d.At]
	if c == nil {
		return
	}
	c.duration.Observe(d.Took.Seconds())
	if n := c.outcomes[d.Outcome]; n != nil {
		n.Inc()
	}
	if d.Stop {
		c.stops.Inc()
	}
	if d.Failed {
		c.failed.Inc()
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		stage, _, _ := strings.Cut(f.Detector, "/")
		m.findings.WithLabelValues(string(d.At), m.kinds.known(f.Kind), m.stages.known(stage)).Inc()
	}
	for i := range d.Calls {
		m.calls.WithLabelValues(m.verdicts.known(string(d.Calls[i].Verdict))).Inc()
	}
	for i := 0; i < len(d.Coverage); {
		why, n := d.Coverage[i].Skipped, 1
		for i+n < len(d.Coverage) && d.Coverage[i+n].Skipped == why { // a long conversation is replayed in one row
			n++
		}
		if i += n; why != "" {
			m.skipped.WithLabelValues(string(d.At), m.reasons.known(why)).Add(float64(n))
		}
	}
	for i := range d.Coverage {
		for _, p := range d.Coverage[i].Partial {
			m.partial.WithLabelValues(string(d.At), m.stages.known(p.Detector), m.reasons.known(p.Why)).Inc()
		}
	}
}

func (m *metrics) lane(at lane) *laneMetrics {
	if known, ok := m.lanes.Load(at); ok {
		return known.(*laneMetrics) //nolint:errcheck // nothing else is stored
	}
	at = lane{m.surfaces.known(at.surface), m.upstreams.known(at.upstream)}
	l := &laneMetrics{
		duration: m.durations.WithLabelValues(at.surface, at.upstream),
		input:    m.tokens.WithLabelValues(at.upstream, "input"),
		output:   m.tokens.WithLabelValues(at.upstream, "output"),
	}
	for i, status := range [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"} {
		l.statuses[i] = m.exchanges.WithLabelValues(at.surface, at.upstream, status)
	}
	m.lanes.Store(at, l)
	return l
}

// class is the first digit of a status, 0 for what is none.
func class(status int) int {
	if c := status / 100; c >= 1 && c <= 5 {
		return c
	}
	return 0
}

// words are the values that a label has had. Those that come when it has had many count as one.
type words struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (w *words) known(word string) string {
	const most = 64
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.seen[word]:
	case len(w.seen) >= most:
		return "other"
	case w.seen == nil:
		w.seen = map[string]bool{word: true}
	default:
		w.seen[word] = true
	}
	return word
}
