// Command apidoc writes the reference of the HTTP API that openapi.yaml describes, in Markdown, to standard output.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the path of openapi.yaml")
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := reference(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = os.Stdout.WriteString(text)
	return err
}
