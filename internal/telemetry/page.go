package telemetry

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

const metricsPath = "/metrics"

// Serve implements [surface.Surface]: it answers GET /metrics, unless that is switched off.
func (p *Probe) Serve(c *surface.Call) bool {
	if c.R.URL.Path != metricsPath || c.R.Method != http.MethodGet && c.R.Method != http.MethodHead || !p.now.Load().Prometheus {
		return false
	}
	if p.Allow != nil {
		if err := p.Allow(c); err != nil {
			c.Refuse(err)
			return true
		}
	}
	page, format := &bytes.Buffer{}, expfmt.NewFormat(expfmt.TypeTextPlain)
	if err := p.metrics.write(page, format); err != nil {
		p.log.Error("metrics", "request_id", c.X.ID, "error", err)
		c.Fail(&gatehouse.Failure{Status: http.StatusInternalServerError, Code: "internal_error"})
		return true
	}
	c.Write(http.StatusOK, string(format), page.Bytes())
	return true
}

// Detector counts the time of one detector over one chunk of text; it is what a detect.Set is watched by.
func (p *Probe) Detector(name string, took time.Duration) {
	if p.now.Load().Prometheus {
		p.metrics.detectors.WithLabelValues(name).Observe(took.Seconds())
	}
}

// Judged counts an answer of the judge: its label, or why there is none.
func (p *Probe) Judged(answer string, took time.Duration) {
	if p.now.Load().Prometheus {
		p.metrics.judged.WithLabelValues(answer).Inc()
		p.metrics.detectors.WithLabelValues("judge").Observe(took.Seconds())
	}
}

func (m *metrics) write(to *bytes.Buffer, format expfmt.Format) error {
	families, err := m.registry.Gather()
	if err != nil {
		return fmt.Errorf("gather: %w", err)
	}
	encoder := expfmt.NewEncoder(to, format)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return fmt.Errorf("encode %s: %w", f.GetName(), err)
		}
	}
	return nil
}
