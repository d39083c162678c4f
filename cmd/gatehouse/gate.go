package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func gateCommand() *cobra.Command {
	var file, tool, args, context string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gate --policy FILE --tool NAME [--args JSON] [--context JSON]",
		Short: "Say what the tool-call gate would say",
		Long: "Prints allow, flag or block, the rule that decided and the reason. Exits 1 when the call would be blocked.\n\n" +
			"Conditions ask for more than the arguments. --context says what is known around the call; what it leaves out is an\n" +
			"agent without a name, a conversation that has not begun, the present time, and values that the model made:\n" +
			`{"agent":{"id","name","account"}, "session":{"id","risk","tainted","turns"}, "now":"2026-03-04T10:00:00Z",` + "\n" +
			` "origins":[{"value","source":"user|system|tool_result|model","tool"}]}`,
		Example: "  gatehouse gate --policy gatehouse.yaml --tool send_email --args '{\"to\":\"a@example.com\"}'\n" +
			"  gatehouse gate --policy gatehouse.yaml --tool http_get --args '{\"url\":\"https://example.org/x\"}' \\\n" +
			"    --context '{\"session\":{\"tainted\":true},\"origins\":[{\"value\":\"https://example.org/x\",\"source\":\"tool_result\",\"tool\":\"read_page\"}]}'\n" +
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
			call := policy.Call{Tool: tool, Args: args}
			if err := readContext(context, &call); err != nil {
				return exitError{2, err.Error()}
			}
			return reportJudgement(cmd, tool, p.Judge(call), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "policy", "", "configuration file whose tools section counts")
	cmd.Flags().StringVar(&tool, "tool", "", "full name of the tool")
	cmd.Flags().StringVar(&args, "args", "", "arguments as JSON; none means {}")
	cmd.Flags().StringVar(&context, "context", "", "what is known around the call, as JSON")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	for _, name := range []string{"policy", "tool"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

// readContext tells a call what is known around it. A time that is not given is now.
func readContext(text string, c *policy.Call) error {
	known := policyContext{}
	if text != "" {
		if err := yaml.Unmarshal([]byte(text), &known); err != nil { // JSON is YAML
			return fmt.Errorf("--context: %w", err)
		}
	}
	if known.Now.IsZero() {
		known.Now = time.Now()
	}
	known.fill(c)
	return nil
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
