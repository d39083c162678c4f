package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check and show configuration",
		Example: "  gatehouse config check gatehouse.yaml\n  gatehouse config print",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configCheckCommand(), configPrintCommand(), configSchemaCommand())
	return cmd
}

func configCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check FILE",
		Short:   "Validate a file and print every problem, with line and path",
		Example: "  gatehouse config check gatehouse.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := config.Load(args[0])
			var problems config.Problems
			if err != nil && !errors.As(err, &problems) {
				return exitError{2, err.Error()}
			}
			return reportProblems(cmd, args[0], problems, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the problems as a JSON list")
	return cmd
}

func reportProblems(cmd *cobra.Command, file string, problems config.Problems, asJSON bool) error {
	out := cmd.OutOrStdout()
	switch {
	case asJSON:
		if err := writeJSON(out, append(config.Problems{}, problems...)); err != nil {
			return err
		}
	case len(problems) == 0:
		fmt.Fprintf(out, "%s: valid\n", file)
	default:
		fmt.Fprintln(out, problems)
	}
	if n := len(problems); n > 0 {
		return exitError{1, fmt.Sprintf("%s is not valid: problems found: %d", file, n)}
	}
	return nil
}

func configPrintCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "print [FILE]",
		Short:   "Print the effective configuration with secrets masked; without a file, the defaults",
		Example: "  gatehouse config print gatehouse.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := config.Default()
			if len(args) == 1 {
				var err error
				if c, err = loadConfig(args[0], 1); err != nil {
					return err
				}
			}
			_, err := cmd.OutOrStdout().Write(c.Masked())
			return err
		},
	}
}

// loadConfig loads a file. One that is not valid exits with the given code, one that cannot be read with 2.
func loadConfig(file string, invalid int) (*config.Config, error) {
	c, err := config.Load(file)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		return nil, exitError{invalid, "the configuration is not valid\n" + problems.Error()}
	case err != nil:
		return nil, exitError{2, err.Error()}
	}
	return c, nil
}

func configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the file, for editors",
		Example: "  gatehouse config schema > gatehouse.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
