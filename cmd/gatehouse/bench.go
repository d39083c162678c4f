package main

import (
	"github.com/spf13/cobra"
)

func benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure the gateway and its detection",
		Example: "  gatehouse bench load",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(benchLoadCommand(), benchDetectCommand(), benchServerCommand())
	return c
}
