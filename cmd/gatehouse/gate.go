package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func gateCommand() *cobra.Command {
	var file, tool, args string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gate --policy FILE --tool NAME [--args JSON]",
		Short: "Say what the tool-call gate would say",
		Long:  "Prints allow, flag or block, the rule that decided and the reason. Exits 1 when the call would be blocked.",
		Example: "  gatehouse gate --policy gatehouse.yaml --tool send_email --args '{\"to\":\"a@example.com\"}'\n" +
			"  gatehouse gate --policy gatehouse.yaml --tool search --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(file, 2)
			if err != nil {
				return err
			}
			p, err := policy.Compile(c.Tools)
			if err != nil {
				return exitError{2, err.Error()}
			}
			return reportJudgement(cmd, tool, p.Judge(policy.Call{Tool: tool, Args: args}), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "policy", "", "configuration file whose tools section counts")
	cmd.Flags().StringVar(&tool, "tool", "", "full name of the tool")
	cmd.Flags().StringVar(&args, "args", "", "arguments as JSON; none means {}")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	for _, name := range []string{"policy", "tool"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

func reportJudgement(cmd *cobra.Command, tool string, j policy.Judgement, asJSON bool) error {
	var err error
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), struct {
			Tool    string            `json:"tool"`
			Verdict gatehouse.Verdict `json:"verdict"`
			Rule    string            `json:"rule"`
			Reason  string            `json:"reason"`
		}{tool, j.Verdict, j.Rule, j.Reason})
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nrule: %s\nreason: %s\n", j.Verdict, j.Rule, j.Reason)
	}
	if err == nil && j.Verdict == gatehouse.Block {
		return exitError{1, ""}
	}
	return err
}
