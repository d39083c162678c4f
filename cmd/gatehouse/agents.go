package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// agentColumns are what people see of an agent.
var agentColumns = [...]column{
	{"ID", "id", ""}, {"NAME", "name", ""}, {"ACCOUNT", "account", ""}, {"STATE", "containment.state", ""}, {"REASON", "containment.reason", ""},
	{"HASH", "agent_hash", ""}, {"CREATED", "created_at", ""}, {"LAST SEEN", "last_seen", "never"}, {"CLAIMED", "claimed_at", "never"},
}

func agentsCommand() *cobra.Command {
	var a admin
	cmd := adminCommand(&a, "agents", "List, name, claim and contain agents",
		"List, name, claim and contain agents. An agent is known by the hash of its credential, and makes itself known by calling.",
		"  gatehouse agents list\n  gatehouse agents pause mnm-6d6a2d17-43b0-427a-9859-af618e6c299f --reason 'looks wrong'")
	cmd.AddCommand(agentsListCommand(&a), agentsShowCommand(&a), agentsCreateCommand(&a), agentsRenameCommand(&a),
		containCommand(&a, "pause", "Refuse the agent, and its credential under any name, until it is resumed"),
		containCommand(&a, "resume", "Let a paused agent act again"),
		containCommand(&a, "kill", "Refuse the agent, and its credential under any name, until it is reactivated"),
		containCommand(&a, "reactivate", "Let a killed agent act again"),
		agentsDeleteCommand(&a), agentsClaimCommand(&a), agentsRekeyCommand(&a))
	return cmd
}

func agentsListCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the agents of all accounts",
		Example: "  gatehouse agents list\n  gatehouse agents list --json | jq -r '.[] | select(.containment.state != \"active\") | .id'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd.Context(), false, func() error {
				list, err := a.all(cmd.Context(), "/v1/agents", "agents")
				if err != nil {
					return err
				}
				return a.list(cmd.OutOrStdout(), agentColumns[:], list)
			})
		},
	}
}

// agentAct is what the commands of one agent have in common: one request, whose answer is shown.
func agentAct(a *admin, cmd *cobra.Command, method, path string, body any, columns []column) error {
	return a.run(cmd.Context(), false, func() error {
		raw, err := a.ask(cmd.Context(), method, "/v1/agents/"+path, body)
		if err != nil {
			return err
		}
		return a.show(cmd.OutOrStdout(), columns, raw)
	})
}

func agentsShowCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one agent",
		Example: "  gatehouse agents show mnm-6d6a2d17-43b0-427a-9859-af618e6c299f",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return agentAct(a, cmd, http.MethodGet, args[0], nil, agentColumns[:])
		},
	}
}

func agentsRenameCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:     "rename ID NAME",
		Short:   "Give an agent another name. Who it is does not change",
		Example: "  gatehouse agents rename mnm-6d6a2d17-43b0-427a-9859-af618e6c299f researcher",
		Args:    cobra.MatchAll(cobra.ExactArgs(2), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return agentAct(a, cmd, http.MethodPut, args[0], map[string]string{"name": args[1]}, agentColumns[:])
		},
	}
}

// containmentColumns are what people see of a containment.
var containmentColumns = [...]column{{"STATE", "state", ""}, {"REASON", "reason", ""}, {"ACTOR", "actor", ""}, {"SINCE", "since", ""}}

// containCommand makes the command that brings an agent into another state of containment.
func containCommand(a *admin, verb, short string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: "  gatehouse agents " + verb + " mnm-6d6a2d17-43b0-427a-9859-af618e6c299f --reason 'ticket 4711'",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return agentAct(a, cmd, http.MethodPost, args[0]+"/"+verb, map[string]string{"reason": reason}, containmentColumns[:])
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return cmd
}

func agentsDeleteCommand(a *admin) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Forget an agent's conversations, and refuse its credential from then on",
		Long: "Delete an agent. What its sessions remember is forgotten, and the key under which its texts were hashed is erased: the audit chain\n" +
			"still verifies, and nobody can prove what a text was. Its credential is refused. This cannot be undone.",
		Example: "  gatehouse agents delete mnm-6d6a2d17-43b0-427a-9859-af618e6c299f",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), false, func() error {
				return a.delete(cmd, "/v1/agents/", args[0])
			})
		},
	}
}

const fromCredential = "Without --%s, the agent's credential (its provider key or API key) is read from standard input, one line. Only its hash is\nused and kept."

func agentsCreateCommand(a *admin) *cobra.Command {
	var proof string
	var bare bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an agent of a credential before it calls for the first time",
		Long: "Make an agent for callers that have a credential and send X-Mnemom-Agent: NAME, or with --bare for callers that send no name.\n" +
			"It belongs to the account \"default\".\n\n" + strings.Replace(fromCredential, "%s", "hash-proof", 1),
		Example: "  printf '%s\\n' \"$OPENAI_API_KEY\" | gatehouse agents create researcher\n" +
			"  gatehouse agents create researcher --hash-proof \"$(printf '%s' \"$OPENAI_API_KEY|researcher\" | sha256sum | cut -c 1-64)\"",
		Args: cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if proof == "" {
				credential, err := readCredential(cmd.InOrStdin())
				if err != nil {
					return err
				}
				if proof = hashOf(credential + "|" + args[0]); bare {
					proof = hashOf(credential)
				}
			}
			return a.run(cmd.Context(), true, func() error {
				raw, err := a.ask(cmd.Context(), http.MethodPost, "/v1/agents", map[string]string{"name": args[0], "hash_proof": proof})
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), agentColumns[:], raw)
			})
		},
	}
	cmd.Flags().StringVar(&proof, "hash-proof", "", "SHA-256 of credential|NAME or of the credential alone, 64 hex digits")
	cmd.Flags().BoolVar(&bare, "bare", false, "callers do not send X-Mnemom-Agent")
	return cmd
}

// claimColumns are what people see of a claim.
var claimColumns = [...]column{{"ID", "agent_id", ""}, {"ACCOUNT", "account", ""}, {"CLAIMED", "claimed_at", ""}}

func agentsClaimCommand(a *admin) *cobra.Command {
	var proof string
	cmd := &cobra.Command{
		Use:   "claim ID",
		Short: "Take an agent over, by showing that one has its credential",
		Long: "Claim an agent for the account \"default\". One that is claimed already stays whose it is.\n\n" +
			strings.Replace(fromCredential, "%s", "hash-proof", 1),
		Example: "  printf '%s\\n' \"$OPENAI_API_KEY\" | gatehouse agents claim mnm-6d6a2d17-43b0-427a-9859-af618e6c299f",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			credential := ""
			if proof == "" {
				var err error
				if credential, err = readCredential(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			return a.run(cmd.Context(), false, func() error {
				if credential != "" {
					agent, err := a.agent(cmd, args[0])
					if err != nil {
						return err
					}
					// Which of the two it was made of is not kept apart from the hash.
					if proof = hashOf(credential + "|" + agent.Name); !strings.HasPrefix(proof, agent.Hash) {
						proof = hashOf(credential)
					}
				}
				raw, err := a.ask(cmd.Context(), http.MethodPost, "/v1/agents/"+args[0]+"/claim", map[string]string{"hash_proof": proof})
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), claimColumns[:], raw)
			})
		},
	}
	cmd.Flags().StringVar(&proof, "hash-proof", "", "SHA-256 of the credential, or of credential|name, 64 hex digits")
	return cmd
}

func agentsRekeyCommand(a *admin) *cobra.Command {
	var hash string
	var bare bool
	cmd := &cobra.Command{
		Use:   "rekey ID",
		Short: "Bind an agent to another credential",
		Long: "Bind an agent to another credential: callers that have it are this agent from then on, and those with the old one are not. An\n" +
			"agent with a name is bound to credential and name together, as callers send it in X-Mnemom-Agent; with --bare to the\n" +
			"credential alone.\n\n" + strings.Replace(fromCredential, "%s", "key-hash", 1),
		Example: "  printf '%s\\n' \"$NEW_KEY\" | gatehouse agents rekey mnm-6d6a2d17-43b0-427a-9859-af618e6c299f",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			credential := ""
			if hash == "" {
				var err error
				if credential, err = readCredential(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			return a.run(cmd.Context(), false, func() error {
				if credential != "" {
					agent, err := a.agent(cmd, args[0])
					if err != nil {
						return err
					}
					if agent.Name != "" && !bare {
						credential += "|" + agent.Name
					}
					hash = hashOf(credential)[:16]
				}
				raw, err := a.ask(cmd.Context(), http.MethodPost, "/v1/agents/"+args[0]+"/rekey", map[string]string{"new_key_hash": hash})
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), agentColumns[:], raw)
			})
		},
	}
	cmd.Flags().StringVar(&hash, "key-hash", "", "first 16 hex digits of SHA-256 of the credential, or of credential|name")
	cmd.Flags().BoolVar(&bare, "bare", false, "callers do not send X-Mnemom-Agent")
	return cmd
}

// boundAgent is what a hash has to do with.
type boundAgent struct {
	Name string `json:"name"`
	Hash string `json:"agent_hash"`
}

func (a *admin) agent(cmd *cobra.Command, id string) (found boundAgent, err error) {
	raw, err := a.ask(cmd.Context(), http.MethodGet, "/v1/agents/"+id, nil)
	if err != nil {
		return boundAgent{}, err
	}
	err = json.Unmarshal(raw, &found)
	return found, err
}

// maxCredential is far more than any provider's key has.
const maxCredential = 4096

// readCredential reads a secret that must not stand on a command line.
func readCredential(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxCredential)).ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if err != nil && !errors.Is(err, io.EOF) || line == "" {
		return "", errors.New("no credential came on standard input")
	}
	return line, nil
}

// hashOf is the SHA-256 of a text in hex.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
