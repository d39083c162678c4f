package main

import (
	"net/http"

	"github.com/spf13/cobra"
)

// grantColumns are what people see of a grant.
var grantColumns = [...]column{
	{"ID", "id", ""}, {"AGENT", "agent_id", ""}, {"TOOL", "tool", ""}, {"SCOPE", "scope", ""}, {"EXPIRES", "expires_at", ""},
	{"REVOKED", "revoked_at", "no"}, {"USED", "used", ""}, {"LAST USED", "last_used_at", "never"}, {"BY", "decided_by", ""}, {"NOTE", "note", ""},
}

// term is what a grant lets through, and for how long.
type term struct {
	Scope string `json:"scope"`
	For   string `json:"for"`
}

func (t *term) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.Scope, "scope", "", "condition on the calls that pass, such as 'args.to.endsWith(\"@example.com\")'")
	cmd.Flags().StringVar(&t.For, "for", "", "how long they pass, such as 12h or 14d; at most 90d")
}

func grantsCommand(a *admin) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "grants",
		Short:   "List, make and revoke grants: calls that pass without asking, within a scope and for a time",
		Example: "  gatehouse approvals grants list\n  gatehouse approvals grants revoke gra-0123456789abcdef0123456789abcdef",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(grantsListCommand(a), grantsCreateCommand(a), grantsRevokeCommand(a))
	return cmd
}

func grantsListCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the grants of all accounts, revoked and expired ones too",
		Example: "  gatehouse approvals grants list\n  gatehouse approvals grants list --json | jq -r '.[] | select(.used == 0) | .id'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd.Context(), false, func() error {
				list, err := a.all(cmd.Context(), "/v1/approvals/grants", "grants")
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), grantColumns[:], list)
			})
		},
	}
}

func grantsCreateCommand(a *admin) *cobra.Command {
	var body struct {
		Agent string `json:"agent"`
		Tool  string `json:"tool"`
		Note  string `json:"note,omitempty"`
		term
	}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Let calls of one tool by one agent through without asking",
		Example: "  gatehouse approvals grants create --agent mnm-6d6a2d17-43b0-427a-9859-af618e6c299f --tool send_email \\\n" +
			"    --scope 'args.to.endsWith(\"@example.com\")' --for 14d",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd.Context(), false, func() error {
				raw, err := a.ask(cmd.Context(), http.MethodPost, "/v1/approvals/grants", body)
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), grantColumns[:], raw)
			})
		},
	}
	cmd.Flags().StringVar(&body.Agent, "agent", "", "id of the agent")
	cmd.Flags().StringVar(&body.Tool, "tool", "", "full name of the tool")
	cmd.Flags().StringVar(&body.Note, "note", "", "why, for the record")
	body.flags(cmd)
	for _, name := range []string{"agent", "tool", "scope", "for"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flags are those above
		}
	}
	return cmd
}

func grantsRevokeCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Have the calls of a grant ask again from now on",
		Example: "  gatehouse approvals grants revoke gra-0123456789abcdef0123456789abcdef",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				raw, err := a.ask(cmd.Context(), http.MethodDelete, "/v1/approvals/grants/"+args[0], nil)
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), grantColumns[:], raw)
			})
		},
	}
}
