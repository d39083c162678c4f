package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// approvalColumns are what people see of an approval in a list.
var approvalColumns = [...]column{
	{"ID", "id", ""}, {"STATE", "state", ""}, {"TOOL", "tool", ""}, {"AGENT", "agent_id", ""}, {"SESSION", "session", ""}, {"RULE", "rule", ""},
	{"CREATED", "created_at", ""}, {"EXPIRES", "expires_at", ""}, {"BY", "decided_by", ""}, {"RESULT", "result_at", "no"},
}

// approvalSheet is what people see of one, above its arguments.
var approvalSheet = [...]column{
	{"ID", "id", ""}, {"STATE", "state", ""}, {"TOOL", "tool", ""}, {"RULE", "rule", ""}, {"REASON", "reason", ""}, {"RISK", "risk", ""},
	{"TAINTED", "tainted", ""}, {"AGENT", "agent_id", ""}, {"NAME", "agent_name", ""}, {"SESSION", "session", ""}, {"REQUEST", "request_id", ""},
	{"CALL", "call_id", ""}, {"DIGEST", "digest", ""}, {"CREATED", "created_at", ""}, {"EXPIRES", "expires_at", ""}, {"DECIDED", "decided_at", "no"},
	{"BY", "decided_by", ""}, {"FROM", "decided_from", ""}, {"NOTE", "note", ""}, {"CONSUMED", "consumed_at", "no"}, {"CONSUMED BY", "consumed_by", ""},
	{"RESULT", "result_at", "no"}, {"AGAIN", "again", ""},
}

const anApproval = "apr-0123456789abcdef0123456789abcdef"

func approvalsCommand() *cobra.Command {
	var a admin
	cmd := adminCommand(&a, "approvals", "List, show, approve, deny and revoke flagged tool calls",
		"Answer tool calls that wait for a human. An approval is for one call of exactly its arguments, and lets it through once.",
		"  gatehouse approvals list --state pending\n  gatehouse approvals show "+anApproval+"\n  gatehouse approvals approve "+anApproval+" --note 'asked the customer'")
	cmd.AddCommand(approvalsListCommand(&a), approvalsShowCommand(&a), approvalsApproveCommand(&a),
		settleCommand(&a, "deny", "Refuse the call of a pending approval"),
		settleCommand(&a, "revoke", "Take back an approval that was not used yet"),
		grantsCommand(&a))
	return cmd
}

func approvalsListCommand(a *admin) *cobra.Command {
	var state string
	var watch, undelivered bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List approvals of all accounts, newest first",
		Long: "List approvals, newest first. With --watch the command goes on until it is interrupted, and writes a line for each approval\n" +
			"that comes or changes; with --json as well a line is one JSON object.",
		Example: "  gatehouse approvals list --state pending\n  gatehouse approvals list --undelivered\n  gatehouse approvals list --state pending --watch --json | jq -r .id",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			where := url.Values{}
			if state != "" {
				where.Set("state", state)
			}
			if undelivered {
				where.Set("undelivered", "true")
			}
			path := "/v1/approvals"
			if len(where) > 0 {
				path += "?" + where.Encode()
			}
			return a.run(cmd.Context(), false, func() error {
				if watch {
					return watchApprovals(cmd.Context(), a, cmd.OutOrStdout(), path)
				}
				list, err := a.all(cmd.Context(), path, "approvals")
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), approvalColumns[:], list)
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "pending, approved, denied, expired, consumed or revoked (default: all)")
	cmd.Flags().BoolVar(&undelivered, "undelivered", false, "only those that let a call through whose result was never seen")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and write those that come or change")
	return cmd
}

// watchTime is how often --watch looks: as soon as a person would.
const watchTime = 500 * time.Millisecond

// watchApprovals writes the approvals of a list, oldest first, and again each that comes or changes.
func watchApprovals(ctx context.Context, a *admin, w io.Writer, path string) error {
	seen := map[string]string{}
	for {
		list, err := a.all(ctx, path, "approvals")
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for i := len(list) - 1; i >= 0; i-- {
			resource, err := fields(list[i])
			if err != nil {
				return err
			}
			id, now := fmt.Sprint(resource["id"]), fmt.Sprint(resource["state"], resource["result_at"])
			if seen[id] == now {
				continue
			}
			seen[id] = now
			line := string(list[i])
			if !a.json {
				cells := make([]string, len(approvalColumns))
				for i, c := range approvalColumns {
					cells[i] = c.cell(resource)
				}
				line = strings.Join(cells, "  ")
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchTime):
		}
	}
}

func approvalsShowCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one approval: what will run, why it was flagged, and the text that led to it",
		Example: "  gatehouse approvals show " + anApproval,
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return approvalAct(a, cmd, http.MethodGet, args[0], nil)
		},
	}
}

// approvalAct is what the commands of one approval have in common: one request, whose answer is shown.
func approvalAct(a *admin, cmd *cobra.Command, method, path string, body any) error {
	return a.run(cmd.Context(), false, func() error {
		raw, err := a.ask(cmd.Context(), method, "/v1/approvals/"+path, body)
		if err != nil {
			return err
		}
		if a.json {
			return writeJSON(cmd.OutOrStdout(), raw)
		}
		return writeApproval(cmd.OutOrStdout(), raw)
	})
}

func approvalsApproveCommand(a *admin) *cobra.Command {
	var body struct {
		Note  string `json:"note,omitempty"`
		Grant *term  `json:"grant,omitempty"`
	}
	var grant term
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Let the call of a pending approval through, once",
		Long: "Let the call of a pending approval through, once, when the agent makes it again with the same arguments. One that was let through\n" +
			"and whose result never came back can be approved again.\n\n" +
			"With --scope and --for, later calls of the same tool by the same agent pass without asking for as long as the condition holds.",
		Example: "  gatehouse approvals approve " + anApproval + " --note 'asked the customer'\n" +
			"  gatehouse approvals approve " + anApproval + " --scope 'args.to.endsWith(\"@example.com\")' --for 14d",
		Args: cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (grant.Scope == "") != (grant.For == "") {
				return errors.New("--scope and --for go together")
			}
			if grant.Scope != "" {
				body.Grant = &grant
			}
			return approvalAct(a, cmd, http.MethodPost, args[0]+"/approve", body)
		},
	}
	cmd.Flags().StringVar(&body.Note, "note", "", "why, for the record")
	grant.flags(cmd)
	return cmd
}

// settleCommand makes a command that lets nothing through.
func settleCommand(a *admin, verb, short string) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: "  gatehouse approvals " + verb + " " + anApproval + " --note 'not ours'",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return approvalAct(a, cmd, http.MethodPost, args[0]+"/"+verb, map[string]string{"note": note})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the record")
	return cmd
}

// writeApproval writes an approval for a person: what it says, then the arguments as they will run, then what led to them.
func writeApproval(w io.Writer, raw json.RawMessage) error {
	if err := writeSheet(w, approvalSheet[:], raw); err != nil {
		return err
	}
	var card struct {
		Arguments json.RawMessage
		Evidence  *struct{ Argument, Tool, Quote string }
	}
	if err := json.Unmarshal(raw, &card); err != nil {
		return err
	}
	fmt.Fprintln(w, "\narguments")
	if string(card.Arguments) == "null" {
		fmt.Fprintln(w, "  not kept any more")
	} else {
		var b bytes.Buffer
		if err := json.Indent(&b, card.Arguments, "  ", "  "); err != nil {
			return err
		}
		writeLines(w, "  "+b.String())
	}
	if e := card.Evidence; e != nil {
		fmt.Fprintf(w, "\n%s came from a result of the tool %s\n", printable(e.Argument), printable(e.Tool))
		writeLines(w, "  "+strings.ReplaceAll(e.Quote, "\n", "\n  "))
	}
	return nil
}

// writeLines writes a text of several lines, none of which commands the terminal.
func writeLines(w io.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(w, printable(line))
	}
}
