package gateway

import (
	"errors"
	"net/url"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/judge"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
)

// judge is the model that the configuration names to judge texts; nil when it names none. The one that there is stays, with what it knows
// of the upstream's failures, as long as nothing about it changes.
func (g *Gateway) judge(cfg *config.Config) (*judge.Judge, error) {
	if cfg.Judge.Upstream == "" {
		g.judged = judged{}
		return nil, nil
	}
	u := cfg.Upstreams[cfg.Judge.Upstream]
	now := judged{settings: cfg.Judge, url: u.URL, format: u.Format, key: u.Key}
	if now.same(g.judged) {
		return g.judged.judge, nil
	}
	base, err := url.Parse(u.URL)
	codec := codecs(cfg.Limits.Depth)[u.Format]
	if err != nil || codec == nil {
		return nil, errors.New("judge: its upstream cannot be asked")
	}
	m := &upstream.Model{Client: g.models, Codec: codec, URL: base, Format: u.Format, Key: u.Key, Name: cfg.Judge.Model,
		Limits: upstream.Limits{Idle: cfg.Judge.Timeout}}
	now.judge = judge.New(m, cfg.Judge.Model, cfg.Judge.Timeout)
	now.judge.Told = g.probe.Judged
	g.judged = now
	return now.judge, nil
}

// judged is the judge that is in use, and what it was made of.
type judged struct {
	settings         config.Judge
	url, format, key string
	judge            *judge.Judge
}

func (j judged) same(other judged) bool {
	j.judge = other.judge
	return j == other
}
