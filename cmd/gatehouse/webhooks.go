package main

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

// webhookColumns are what people see of a webhook.
var webhookColumns = [...]column{
	{"ID", "id", ""}, {"ACCOUNT", "account", ""}, {"URL", "url", ""}, {"EVENTS", "event_types", "none"}, {"DISABLED", "disabled_reason", "no"},
	{"FAILURES", "failures", ""}, {"CREATED", "created_at", ""},
}

// deliveryColumns are what people see of a delivery.
var deliveryColumns = [...]column{
	{"ID", "id", ""}, {"EVENT", "event_id", ""}, {"TYPE", "event_type", ""}, {"STATE", "state", ""}, {"ATTEMPTS", "attempts", ""},
	{"STATUS", "last_status", ""}, {"ERROR", "last_error", ""}, {"NEXT", "next_attempt_at", ""}, {"CREATED", "created_at", ""},
}

func webhooksCommand() *cobra.Command {
	var a admin
	cmd := adminCommand(&a, "webhooks", "Make, list, test and mend webhooks",
		"Make, list, test and mend webhooks. They are delivered by a gateway that is serving, not by these commands. Where the gateway has\n"+
			"GATEHOUSE_KEY in its environment, create and rotate need the same; to send to private networks that the configuration allows,\n"+
			"name it with --config.",
		"  gatehouse webhooks create https://example.com/hook --event 'sh.*'\n  gatehouse webhooks list")
	cmd.AddCommand(webhooksCreateCommand(&a), webhooksListCommand(&a), webhooksShowCommand(&a), webhooksDeleteCommand(&a),
		webhooksRotateCommand(&a), webhooksTestCommand(&a), webhooksDeliveriesCommand(&a), webhooksRedeliverCommand(&a))
	return cmd
}

func webhooksCreateCommand(a *admin) *cobra.Command {
	var body struct {
		URL         string   `json:"url"`
		Account     string   `json:"account,omitempty"`
		Description string   `json:"description,omitempty"`
		EventTypes  []string `json:"event_types"`
	}
	cmd := &cobra.Command{
		Use:   "create URL",
		Short: "Make a webhook and print its signing secret, this once",
		Example: "  gatehouse webhooks create https://example.com/hook --event 'sh.*' --event policy.violation\n" +
			"  gatehouse webhooks create https://example.com/hook --event '*' --account acme",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(body.EventTypes) == 0 {
				return errors.New("--event is missing: name the types of events to send, or '*' for all")
			}
			body.URL = args[0]
			return a.run(cmd.Context(), true, func() error {
				made, err := a.ask(cmd.Context(), http.MethodPost, "/v1/webhooks", body)
				if err != nil {
					return err
				}
				return a.reveal(cmd.OutOrStdout(), cmd.ErrOrStderr(), made, "signing_secret", "this is the signing secret of webhook")
			})
		},
	}
	cmd.Flags().StringSliceVar(&body.EventTypes, "event", nil, "type of events to send: a name, one that ends in .*, or *")
	cmd.Flags().StringVar(&body.Account, "account", "", "account whose events it hears (default: default)")
	cmd.Flags().StringVar(&body.Description, "description", "", "a note, for people")
	return cmd
}

func webhooksListCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the webhooks of all accounts",
		Example: "  gatehouse webhooks list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd.Context(), false, func() error {
				list, err := a.all(cmd.Context(), "/v1/webhooks", "webhooks")
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), webhookColumns[:], list)
			})
		},
	}
}

// webhookAct is what the commands of one webhook have in common: one request, whose answer is shown.
func webhookAct(a *admin, cmd *cobra.Command, method, path string, columns []column) error {
	return a.run(cmd.Context(), false, func() error {
		raw, err := a.ask(cmd.Context(), method, "/v1/webhooks/"+path, nil)
		if err != nil {
			return err
		}
		return a.show(cmd.OutOrStdout(), columns, raw)
	})
}

func webhooksShowCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one webhook, without its secret",
		Example: "  gatehouse webhooks show whe-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return webhookAct(a, cmd, http.MethodGet, args[0], webhookColumns[:])
		},
	}
}

func webhooksDeleteCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "delete ID",
		Short:   "Remove a webhook and its deliveries",
		Example: "  gatehouse webhooks delete whe-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				return a.delete(cmd, "/v1/webhooks/", args[0])
			})
		},
	}
}

func webhooksRotateCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "rotate ID",
		Short:   "Sign with a fresh secret from now on, and print it, this once",
		Example: "  gatehouse webhooks rotate whe-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				made, err := a.ask(cmd.Context(), http.MethodPost, "/v1/webhooks/"+args[0]+"/rotate", nil)
				if err != nil {
					return err
				}
				return a.reveal(cmd.OutOrStdout(), cmd.ErrOrStderr(), made, "signing_secret", "from now on this is the signing secret of webhook")
			})
		},
	}
}

func webhooksTestCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "test ID",
		Short:   "Have the gateway send an event webhook.test to this webhook",
		Example: "  gatehouse webhooks test whe-0123456789abcdef0123456789abcdef\n  gatehouse webhooks deliveries whe-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return webhookAct(a, cmd, http.MethodPost, args[0]+"/test",
				[]column{{"WEBHOOK", "webhook_id", ""}, {"EVENT", "event_id", ""}, {"TYPE", "event_type", ""}})
		},
	}
}

func webhooksDeliveriesCommand(a *admin) *cobra.Command {
	var state string
	var limit int
	cmd := &cobra.Command{
		Use:     "deliveries ID",
		Short:   "List what was sent or will be, newest first",
		Example: "  gatehouse webhooks deliveries whe-0123456789abcdef0123456789abcdef --state dead",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "/v1/webhooks/" + args[0] + "/deliveries"
			if state != "" {
				path += "?state=" + url.QueryEscape(state)
			}
			return a.run(cmd.Context(), false, func() error {
				list, _, err := a.page(cmd.Context(), path, "deliveries", limit, 0)
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), deliveryColumns[:], list)
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "pending, delivered or dead (default: all)")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most, 1 to 200")
	return cmd
}

func webhooksRedeliverCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "redeliver ID DELIVERY",
		Short:   "Have the gateway send a delivery once more, at once",
		Example: "  gatehouse webhooks redeliver whe-0123456789abcdef0123456789abcdef whd-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(2), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return webhookAct(a, cmd, http.MethodPost, args[0]+"/deliveries/"+args[1]+"/redeliver", deliveryColumns[:])
		},
	}
}
