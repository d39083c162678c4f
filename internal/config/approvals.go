package config

import (
	"fmt"
	"strings"
	"time"
)

// Approvals governs how flagged calls wait for a human.
type Approvals struct {
	Wait   time.Duration // how long the proxy holds a response with flagged calls, 0..10m
	Expire time.Duration // how long a pending approval can be decided, and an approved one used, 1m..30d
	Resume string        // replay or match
	URL    string        // where people reach the gateway, without a trailing slash; empty: links are left out
}

func (a *Approvals) field() field {
	return section("approvals", "How flagged calls wait for a human.",
		durationWithin("wait", "How long the proxy holds a response with flagged calls for somebody to decide, at most 10m.", &a.Wait, 0, 10*time.Minute),
		durationWithin("expire", "How long an approval can be decided and then used, 1m to 30d.", &a.Expire, time.Minute, 30*day),
		choice("resume", "How an approved call comes back: replay or match.", &a.Resume, []string{"replay", "match"}),
		value("url", "Base URL under which people reach the gateway, for links to approvals; empty: no links.", object{"type": "string"}, func(s string) error {
			if s != "" {
				if err := wrongBaseURL(s); err != nil {
					return err
				}
			}
			a.URL = strings.TrimRight(s, "/")
			return nil
		}, func() string { return a.URL }),
	)
}

// durationWithin is a duration with bounds, both of which it may be.
func durationWithin(name, doc string, to *time.Duration, least, most time.Duration) field {
	return value(name, doc, object{"type": "string"}, func(s string) error {
		v, err := parseDuration(s)
		if err == nil && (v < least || v > most) {
			err = fmt.Errorf("must be %s to %s", formatDuration(least), formatDuration(most))
		}
		if err == nil {
			*to = v
		}
		return err
	}, func() string { return formatDuration(*to) })
}
