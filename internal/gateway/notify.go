package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/slack"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

// configureTime is the longest time that the store may take to keep the configured webhooks.
const configureTime = 10 * time.Second

// notify makes the configuration's webhooks and Slack effective.
func (g *Gateway) notify(cfg *config.Config) error {
	if g.webhooks == nil {
		return nil
	}
	var list []webhook.Configured
	for _, w := range cfg.Notify.Webhooks {
		list = append(list, webhook.Configured{URL: w.URL, Secret: w.Secret, EventTypes: w.Events})
	}
	ctx, cancel := context.WithTimeout(context.Background(), configureTime)
	defer cancel()
	if err := g.webhooks.Configure(ctx, identity.DefaultAccount, list); err != nil {
		return fmt.Errorf("notify.webhooks: %w", err)
	}
	g.slack.Use(slackSettings(cfg))
	return nil
}

// slackSettings are nil without a token.
func slackSettings(cfg *config.Config) *slack.Settings {
	s := cfg.Notify.Slack
	if s.Token == "" {
		return nil
	}
	settings := &slack.Settings{Token: s.Token, Channel: s.Channel, SigningSecret: s.SigningSecret, Approvers: s.Approvers,
		Arguments: s.Arguments, API: s.API}
	if cfg.Approvals.URL != "" {
		settings.Link = cfg.Approvals.URL + "/v1/approvals/"
	}
	return settings
}
