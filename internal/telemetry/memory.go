package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-gateway/gatehouse/internal/findings"
)

// Remembers counts how often it was known what detectors say of a text. It is called once, before the first exchange.
func (p *Probe) Remembers(stats func() findings.Stats) {
	figure := func(kind prometheus.ValueType, name, help string, of func(findings.Stats) float64) {
		opts := prometheus.Opts{Name: "gatehouse_findings_cache_" + name, Help: help}
		value := func() float64 { return of(stats()) }
		if kind == prometheus.CounterValue {
			p.metrics.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts(opts), value))
			return
		}
		p.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts), value))
	}
	figure(prometheus.CounterValue, "hits_total", "Texts that no detector had to read, because what they say of them was known.",
		func(s findings.Stats) float64 { return float64(s.Hits) })
	figure(prometheus.CounterValue, "misses_total", "Texts that detectors have read.", func(s findings.Stats) float64 { return float64(s.Misses) })
	figure(prometheus.CounterValue, "evictions_total", "Texts that were forgotten for want of room.", func(s findings.Stats) float64 { return float64(s.Evicted) })
	figure(prometheus.GaugeValue, "bytes", "Memory that holds what detectors have found.", func(s findings.Stats) float64 { return float64(s.Bytes) })
	figure(prometheus.GaugeValue, "texts", "Texts of which it is known what detectors say.", func(s findings.Stats) float64 { return float64(s.Values) })
}
