package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// build is what is known of the program itself.
type build struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"` // with + behind it when the tree had changes; unknown outside a checkout
	Detectors string `json:"detectors"`
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and detector set version",
		Example: "  gatehouse version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), b)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "gatehouse %s\ncommit %s\ndetectors %s\n", b.Version, b.Commit, b.Detectors)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func thisBuild() build {
	b := build{Version: "(devel)", Commit: "unknown", Detectors: detect.FullVersion()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed {
		b.Commit += "+"
	}
	return b
}

// writeJSON writes one value on one line, without escaping what only HTML needs escaped.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
