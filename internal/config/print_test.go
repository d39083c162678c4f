package config

import (
	"strings"
	"testing"
	"time"
)

func TestMaskedShowsNoSecret(t *testing.T) {
	t.Setenv("KEY", "sk-secret")
	t.Setenv("LONG", "sk-secret-of-more-than-20-bytes")
	for _, yaml := range []string{
		"upstreams: {openai: {key: '${KEY}'}}",
		"auth: {admin_token: '${LONG}'}",
		"notify: {webhooks: [{url: 'https://example.com/hook', secret: '${LONG}'}]}",
		"notify: {slack: {token: '${KEY}', signing_secret: '${KEY}', channel: C1, approvers: [U1]}}",
	} {
		if got := string(parse(t, yaml).Masked()); strings.Contains(got, "sk-secret") || !strings.Contains(got, mask) {
			t.Errorf("%s: got\n%s", yaml, got)
		}
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": "", "NESTED": "${A}"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for in, want := range map[string]string{
		"plain": "plain", "${A}": "1", "x${A}y${A}": "x1y1", "${EMPTY}": "", "${EMPTY:-d}": "d", "${NONE:-d}": "d", "${NONE:-}": "",
		"${NESTED}": "${A}", "$${A}": "${A}", "$A": "$A", "${A:-d}": "1",
	} {
		if got, err := expand(in, lookup); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"${NONE}", "${A", "${}", "${1}", "${A B}", "${A-d}"} {
		if got, err := expand(in, lookup); err == nil {
			t.Errorf("%q: got %q, want an error", in, got)
		}
	}
}

func TestQuantitiesComeBack(t *testing.T) {
	for _, d := range []time.Duration{time.Second, 90 * time.Second, 10 * time.Minute, 24 * time.Hour, 36 * time.Hour, 365 * day, 1500 * time.Millisecond, time.Nanosecond} {
		if got, err := parseDuration(formatDuration(d)); err != nil || got != d {
			t.Errorf("%v: printed %s, read %v, %v", d, formatDuration(d), got, err)
		}
	}
	for _, n := range []int64{1, 1000, 1024, 32 << 20, 3 << 30, 1<<20 + 1} {
		if got, err := parseSize(formatSize(n)); err != nil || got != n {
			t.Errorf("%d: printed %s, read %d, %v", n, formatSize(n), got, err)
		}
	}
}
