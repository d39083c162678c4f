// Command gatehouse is the checkpoint gateway: the server, and the commands around it. It exits 0 on success, 1 on a
// negative answer and 2 when the question was not understood; data goes to standard output, everything else to standard
// error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	exit := exitError{2, err.Error()} // what a command did not classify is a question it could not understand
	errors.As(err, &exit)
	if exit.msg != "" {
		fmt.Fprintln(stderr, "gatehouse:", exit.msg)
	}
	return exit.code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "gatehouse",
		Short:         "A checkpoint gateway between AI agents and what they touch",
		Example:       "  gatehouse demo\n  gatehouse serve --config gatehouse.yaml",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		demoCommand(),
		serveCommand(),
		configCommand(),
		scanCommand(),
		gateCommand(),
		policyCommand(),
		approvalsCommand(),
		auditCommand(),
		keysCommand(),
		agentsCommand(),
		webhooksCommand(),
		benchCommand(),
		versionCommand(),
	)
	return root
}
