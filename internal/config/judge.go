package config

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

// Judge names a model that is asked about texts which detectors leave open; without an upstream there is none.
type Judge struct {
	Upstream string
	Model    string
	Timeout  time.Duration // for one answer
}

func (j *Judge) field() field {
	f := section("judge", "A model that is asked about texts which detectors leave open: it reads them, without secrets. null: none.",
		text("upstream", "Its upstream, one of upstreams, with the key that stands there.", &j.Upstream, anything),
		text("model", "Its name.", &j.Model, wrongModel),
		durationWithin("timeout", "How long it is waited for, 100ms to 1m. The request waits, too.", &j.Timeout, 100*time.Millisecond, time.Minute),
	)
	shown := f.show
	f.show = func() *yaml.Node {
		if j.Upstream == "" {
			return nil
		}
		return shown()
	}
	f.schema["type"] = []string{"object", "null"}
	return f
}

func wrongModel(s string) error {
	const longest = 128
	if s == "" || len(s) > longest {
		return errors.New("must have 1 to 128 bytes")
	}
	for _, c := range s {
		if c <= ' ' || c > '~' {
			return errors.New("must be printable ASCII without blanks")
		}
	}
	return nil
}

// judge looks for an upstream that can be asked.
func (d *decoder) judge(c *Config) {
	j := c.Judge
	u, known := c.Upstreams[j.Upstream]
	var wrong error
	switch {
	case j.Upstream == "" && j.Model == "":
		return
	case j.Upstream == "" || j.Model == "":
		wrong = errors.New("needs an upstream and a model")
	case !known:
		wrong = errors.New("names an upstream that does not exist")
	case u.Key == "" && u.Auth != "none":
		wrong = fmt.Errorf("upstreams.%s needs a key, or auth: none: the judge has no caller's", j.Upstream)
	}
	if wrong != nil {
		d.fail(d.line("judge"), "judge", "%v", wrong)
	}
}
