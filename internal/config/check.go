package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// check looks for what no single value shows.
func (d *decoder) check(c *Config) {
	t := c.Protection.Thresholds
	if t.Warn > t.Quarantine || t.Quarantine > t.Block {
		d.fail(d.line("protection.thresholds"), "protection.thresholds", "must rise: warn, quarantine, block")
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		d.fail(d.line("tls"), "tls", "needs both cert and key")
	}
	d.notify(c.Notify)
	d.judge(c)
	if _, err := policy.Compile(c.Tools); err != nil {
		d.policy(err)
	}
}

func wrongAddress(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("must be host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return errors.New("the port must be a number from 0 to 65535")
	}
	return nil
}

func wrongStore(s string) error {
	switch path, ok := strings.CutPrefix(s, "sqlite:"); {
	case ok && path != "":
		return nil
	case strings.HasPrefix(s, "postgres:"), strings.HasPrefix(s, "postgresql:"):
		return errors.New("PostgreSQL is not available in this version; use sqlite:PATH")
	}
	return errors.New("must be sqlite:PATH")
}

func wrongBaseURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an http or https URL")
	case u.User != nil:
		return errors.New("must not hold a user name or password; use key")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("must not have a query or a fragment")
	}
	return nil
}

func wrongCollector(s string) error {
	if s == "" {
		return nil
	}
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return errors.New("must not hold a user name or password; set OTEL_EXPORTER_OTLP_HEADERS in the environment")
	}
	return wrongBaseURL(s)
}

func wrongToken(s string) error {
	if s != "" && len(s) < 20 {
		return errors.New("must have 20 bytes or more")
	}
	return nil
}

func wrongNetwork(s string) error {
	if _, err := netip.ParsePrefix(s); err != nil {
		return errors.New("must be a network such as 10.0.0.0/8")
	}
	return nil
}

func wrongOrigin(s string) error {
	if s == "*" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Scheme+"://"+u.Host != s {
		return errors.New("must be an origin such as https://example.com, without a path, or *")
	}
	return nil
}

func wrongKey(s string) error {
	if strings.ContainsAny(s, "\r\n\x00") {
		return errors.New("must be one line")
	}
	return nil
}
