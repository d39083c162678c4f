package main

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// keyColumns are what people see of a key. Keys are shown when they are made and never again.
var keyColumns = [...]column{
	{"ID", "id", ""}, {"NAME", "name", ""}, {"ACCOUNT", "account", ""}, {"SCOPES", "scopes", ""}, {"AGENTS", "agents", "all"},
	{"CREATED", "created_at", ""}, {"EXPIRES", "expires_at", "never"}, {"REVOKED", "revoked_at", "no"},
}

func keysCommand() *cobra.Command {
	var a admin
	cmd := adminCommand(&a, "keys", "Make, list, rotate and revoke API keys",
		"Make, list, rotate and revoke API keys. From the first one on, every caller has to show a key.",
		"  gatehouse keys create --name agents\n  gatehouse keys list\n  gatehouse keys revoke mk-0123456789abcdef")
	cmd.AddCommand(keysCreateCommand(&a), keysListCommand(&a), keysRotateCommand(&a), keysRevokeCommand(&a))
	return cmd
}

func keysCreateCommand(a *admin) *cobra.Command {
	var body struct {
		Name    string     `json:"name,omitempty"`
		Account string     `json:"account,omitempty"`
		Scopes  []string   `json:"scopes,omitempty"`
		Agents  []string   `json:"agents,omitempty"`
		Expires *time.Time `json:"expires_at,omitempty"`
	}
	var expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a key and print it, this once",
		Long: "Make a key. The key alone goes to standard output; only its hash is kept, so that it cannot be shown again. A store that is\n" +
			"not there is made, so that a gateway which listens openly has a key before it starts.\n\n" +
			"Scopes: gateway (call models through the doors), api:read, api:write, approve, admin. None implies another.",
		Example: "  gatehouse keys create --name agents\n" +
			"  gatehouse keys create --name ci --scope gateway --expires 90d\n" +
			"  gatehouse keys create --name acme --account acme --scope gateway,api:read,api:write,admin > acme.key",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if expires != "" {
				at, err := expiry(expires, time.Now().Truncate(time.Second))
				if err != nil {
					return err
				}
				body.Expires = &at
			}
			return a.run(cmd.Context(), true, func() error {
				made, err := a.ask(cmd.Context(), http.MethodPost, "/v1/keys", body)
				if err != nil {
					return err
				}
				return a.reveal(cmd.OutOrStdout(), cmd.ErrOrStderr(), made, "key", "this is API key")
			})
		},
	}
	cmd.Flags().StringVar(&body.Name, "name", "", "a name, for people")
	cmd.Flags().StringVar(&body.Account, "account", "", "account that it belongs to (default: default)")
	cmd.Flags().StringSliceVar(&body.Scopes, "scope", nil, "what it may be used for (default: gateway,api:read,api:write)")
	cmd.Flags().StringSliceVar(&body.Agents, "agent", nil, "id of an agent that it may act as and see (default: all of its account)")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: after 12h or 90d, or at a time as in RFC 3339 (default: never)")
	return cmd
}

// expiry reads a time, or a duration from now on.
func expiry(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			return now.Add(time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	return time.Time{}, errors.New("--expires must be a time such as 2030-01-31T00:00:00Z, or a duration such as 12h or 90d")
}

func keysListCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the keys of all accounts, revoked ones too; without the keys themselves",
		Example: "  gatehouse keys list\n  gatehouse keys list --json | jq -r '.[] | select(.revoked_at == null) | .id'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd.Context(), false, func() error {
				list, err := a.all(cmd.Context(), "/v1/keys", "keys")
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), keyColumns[:], list)
			})
		},
	}
}

func keysRotateCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate ID",
		Short: "Replace a key by a fresh one with the same id and rights, and print it, this once",
		Long: "Replace a key. The old one is refused from then on; id, name, account, scopes, agents and expiry stay.\n\n" +
			"The agent of a key that lists no agents is known by the key itself: with the new key it is another agent. To keep it, make\n" +
			"the key with --agent.",
		Example: "  gatehouse keys rotate mk-0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				made, err := a.ask(cmd.Context(), http.MethodPost, "/v1/keys/"+args[0]+"/rotate", nil)
				if err != nil {
					return err
				}
				return a.reveal(cmd.OutOrStdout(), cmd.ErrOrStderr(), made, "key", "from now on this is API key")
			})
		},
	}
}

func keysRevokeCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Refuse a key from now on",
		Example: "  gatehouse keys revoke mk-0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				key, err := a.ask(cmd.Context(), http.MethodDelete, "/v1/keys/"+args[0], nil)
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), keyColumns[:], key)
			})
		},
	}
}
