package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

func policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		Short:   "Check, test and replay a tool policy",
		Example: "  gatehouse policy check gatehouse.yaml\n  gatehouse policy test cases/\n  gatehouse policy replay candidate.yaml --since 7d",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(policyCheckCommand(), policyTestCommand(), policyReplayCommand())
	return cmd
}

func policyCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check FILE",
		Short:   "Validate the policy of a configuration file and print every problem, with line, column and path",
		Long:    "The policy is the section tools of a configuration file. The rest of the file must be valid too. Exits 1 when it is not.",
		Example: "  gatehouse policy check gatehouse.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0])
			var problems config.Problems
			if err != nil && !errors.As(err, &problems) {
				return exitError{2, err.Error()}
			}
			if err := reportProblems(cmd, args[0], problems, asJSON); err != nil {
				return err
			}
			if c.Tools.Allow == nil && !c.Tools.FlagSet && len(c.Tools.Rules) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "the file says nothing of tools: the built-in flags are the whole policy")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the problems as a JSON list")
	return cmd
}

func policyTestCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test DIR|FILE",
		Short: "Run case files: calls, and what the policy should say to them",
		Long: "Runs every .yaml and .yml file below a directory that has the key calls, and prints a line for each call. Exits 1 when\n" +
			"an answer is not the one that was wanted.\n\n" +
			"  name: Payments\n" +
			"  policy: gatehouse.yaml        # relative to the case file; or the section tools itself\n" +
			"  calls:\n" +
			"    - name: a small sum inside the house\n" +
			"      tool: pay\n" +
			"      args: {amount: 20, account: DE02120300000000202051}\n" +
			"      context: {session: {tainted: true}, origins: [{value: DE02120300000000202051, source: user}]}\n" +
			"      want: allow\n" +
			"      rule: tools.rules[0]        # may be left out",
		Example: "  gatehouse policy test cases/\n  gatehouse policy test cases/payments.yaml --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, skipped, err := findCaseFiles(args[0])
			if err != nil {
				return err
			}
			for _, path := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: not a case file: it has no key calls\n", path)
			}
			if len(files) == 0 {
				return exitError{2, args[0] + " holds no case file"}
			}
			results := []caseResult{}
			for _, f := range files {
				some, err := f.run()
				if err != nil {
					return err
				}
				results = append(results, some...)
			}
			return reportCases(cmd.OutOrStdout(), results, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list of results")
	return cmd
}

func reportCases(out io.Writer, results []caseResult, asJSON bool) error {
	failed := 0
	for _, r := range results {
		if !r.OK {
			failed++
		}
	}
	if asJSON {
		if err := writeJSON(out, results); err != nil {
			return err
		}
	} else {
		for _, r := range results {
			fmt.Fprintln(out, r)
		}
		fmt.Fprintf(out, "passed: %d, failed: %d\n", len(results)-failed, failed)
	}
	if failed > 0 {
		return exitError{1, fmt.Sprintf("cases failed: %d", failed)}
	}
	return nil
}
