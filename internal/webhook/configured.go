package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
)

// fromConfiguration is the description of what [Registry.Configure] has made.
const fromConfiguration = "from the configuration"

// minSecret is the fewest bytes of a secret that is brought along.
const minSecret = 20

// Configured is an endpoint that the operator's configuration names.
type Configured struct {
	URL        string
	Secret     string // that deliveries are signed with
	EventTypes []string
}

// Check refuses what could not be an endpoint. The error is an [*Invalid] and quotes nothing.
func (c Configured) Check(t Targets) error {
	if err := t.Check(c.URL); err != nil {
		return &Invalid{"url", err.Error()}
	}
	switch {
	case len(c.Secret) < minSecret:
		return &Invalid{"secret", "must have 20 bytes or more"}
	case strings.ContainsAny(c.Secret, "\r\n\x00"):
		return &Invalid{"secret", "must be one line"}
	}
	return checkTypes(c.EventTypes)
}

// Configure makes the configured endpoints of an account be exactly these: those that are new are made, those that differ are
// changed, and those that are not there any more are removed with their deliveries. One that was disabled stays so. The
// endpoints that were made by [Registry.Create] are left alone. The error is [*Invalid] or [ErrTooMany] where the list is wrong;
// then nothing is changed.
func (r *Registry) Configure(ctx context.Context, account string, list []Configured) error {
	if len(list) > maxEndpoints {
		return ErrTooMany
	}
	for _, c := range list {
		if err := c.Check(r.Targets); err != nil {
			return err
		}
	}
	return r.Transact(ctx, func(ctx context.Context) error {
		have, _, err := r.Endpoints.Webhooks(ctx, account, math.MaxInt32, 0)
		if err != nil {
			return err
		}
		for _, c := range list {
			id := configuredID(account, c.URL)
			i := slices.IndexFunc(have, func(e Endpoint) bool { return e.ID == id })
			if i < 0 {
				err = r.addConfigured(ctx, account, c)
			} else {
				err = r.putConfigured(ctx, have[i], c)
				have = slices.Delete(have, i, i+1)
			}
			if err != nil {
				return err
			}
		}
		for _, e := range have {
			if !e.configured() {
				continue
			}
			if _, err := r.Endpoints.DeleteWebhook(ctx, account, e.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *Registry) addConfigured(ctx context.Context, account string, c Configured) error {
	now := r.now()
	e := Endpoint{ID: configuredID(account, c.URL), Account: account, URL: c.URL, Description: fromConfiguration,
		EventTypes: slices.Clone(c.EventTypes), Created: now, Updated: now}
	e.Sealed = r.Box.Seal([]byte(c.Secret), e.owner())
	_, err := r.Endpoints.AddWebhook(ctx, e)
	return err
}

// putConfigured writes only what differs, so that a restart changes nothing.
func (r *Registry) putConfigured(ctx context.Context, e Endpoint, c Configured) error {
	secret, err := r.Box.Open(e.Sealed, e.owner())
	sameSecret := err == nil && string(secret) == c.Secret // else it was sealed under another key, and is sealed again
	if sameSecret && slices.Equal(e.EventTypes, c.EventTypes) {
		return nil
	}
	if !sameSecret {
		e.Sealed = r.Box.Seal([]byte(c.Secret), e.owner())
	}
	e.EventTypes, e.Updated = slices.Clone(c.EventTypes), r.now()
	return r.Endpoints.PutWebhook(ctx, e)
}

// configured reports whether the endpoint is one of the configuration: its id follows from its URL, which no other's does.
func (e Endpoint) configured() bool { return e.ID == configuredID(e.Account, e.URL) }

// fixed refuses to change through the API what the next start would change back.
func (e Endpoint) fixed() error {
	if e.configured() {
		return &Invalid{"id", "is of a webhook of the configuration: change it there"}
	}
	return nil
}

func configuredID(account, url string) string {
	sum := sha256.Sum256([]byte("configured\n" + account + "\n" + url))
	return "whe-" + hex.EncodeToString(sum[:16])
}
