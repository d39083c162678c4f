package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// auditSource says where the audit chain is kept.
type auditSource struct{ config, store string }

func auditCommand() *cobra.Command {
	var src auditSource
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read, export and verify the audit chain",
		Long: "Every exchange leaves one record in a chain of hashes. These commands read it, also while a gateway is running.\n" +
			"They never write to the store.",
		Example: "  gatehouse audit tail --follow\n  gatehouse audit verify\n  gatehouse audit export audit.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&src.config, "config", "", "configuration file that names the store")
	cmd.PersistentFlags().StringVar(&src.store, "store", "sqlite:gatehouse.db", "the store itself")
	cmd.MarkFlagsMutuallyExclusive("config", "store")
	cmd.AddCommand(auditTailCommand(&src), auditExportCommand(&src), auditVerifyCommand(&src))
	return cmd
}

// open opens the store for reading.
func (s auditSource) open(ctx context.Context) (*store.Store, error) {
	url := s.store
	if s.config != "" {
		c, err := config.Load(s.config)
		if err != nil {
			return nil, exitError{2, err.Error()}
		}
		url = c.Store
	}
	st, err := store.OpenReadOnly(ctx, url)
	switch {
	case errors.Is(err, store.ErrDamaged):
		return nil, exitError{1, err.Error()}
	case err != nil:
		return nil, exitError{2, err.Error()}
	}
	return st, nil
}

func auditTailCommand(src *auditSource) *cobra.Command {
	var follow, raw bool
	var lines int64
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the newest records",
		Long: "Show the newest records, one on a line: time, request id, agent, verdicts, status, what was done to\n" +
			"what when it was no call of a model, and the first reason that a checkpoint gave. With --json a line is the record itself, byte by byte as it is hashed.",
		Example: "  gatehouse audit tail\n  gatehouse audit tail --follow --lines 0\n  gatehouse audit tail --json | jq .verdicts",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return exitError{2, "--lines is less than 0"}
			}
			st, err := src.open(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close()
			return auditTail(cmd.Context(), cmd.OutOrStdout(), st, lines, follow, raw)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait for more records until interrupted")
	cmd.Flags().BoolVar(&raw, "json", false, "write the records as they are kept, as JSON lines")
	cmd.Flags().Int64VarP(&lines, "lines", "n", 20, "how many of the records that are there to show first")
	return cmd
}

func auditTail(ctx context.Context, w io.Writer, st *store.Store, lines int64, follow, raw bool) error {
	head, err := st.Head(ctx)
	if err != nil {
		return exitError{1, err.Error()}
	}
	read := st.Entries
	if follow {
		read = st.Follow
	}
	for e, err := range read(ctx, max(1, head.Seq-lines+1)) {
		line := string(e.Record)
		if err == nil && !raw {
			line, err = auditLine(e)
		}
		if err != nil {
			return exitError{1, err.Error()}
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// auditLine is a record for people.
func auditLine(e audit.Entry) (string, error) {
	r, err := e.Decode()
	if err != nil {
		return "", err
	}
	verdicts := make([]string, len(gatehouse.Checkpoints))
	for i, at := range gatehouse.Checkpoints {
		verdicts[i] = string(at) + "=" + cmp.Or(r.Verdicts[string(at)], "unknown")
	}
	fields := []string{r.Time.UTC().Format(time.RFC3339), r.ID, cmp.Or(r.Agent, "-"), strings.Join(verdicts, "; "), fmt.Sprint(r.Status)}
	if r.Event != nil {
		fields = append(fields, r.Event.Type+" "+r.Event.Target)
	}
	if reason := firstReason(r); reason != "" {
		fields = append(fields, reason)
	}
	return printable(strings.Join(fields, "  ")), nil
}

func firstReason(r audit.Record) string {
	for _, d := range r.Decisions {
		if d.Reason != "" {
			return d.Reason
		}
	}
	return r.Error
}

// printable keeps names that came from outside from commanding the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func auditExportCommand(src *auditSource) *cobra.Command {
	return &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the whole chain as JSON lines",
		Long: "Write the whole chain, as it is at one moment, to a file that is not there yet or to standard output: a line for each\n" +
			"record with its hashes, and the head of the chain as the last line. \"audit verify FILE\" verifies it anywhere.",
		Example: "  gatehouse audit export audit.jsonl\n  gatehouse audit export | gzip > audit.jsonl.gz",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := src.open(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close()
			if len(args) == 0 || args[0] == "-" {
				err = st.Export(cmd.Context(), cmd.OutOrStdout())
			} else {
				err = auditExportFile(cmd.Context(), st, args[0])
			}
			return auditAnswer(err)
		},
	}
}

// auditExportFile writes a new file that only its owner can read, and leaves none that is not whole.
func auditExportFile(ctx context.Context, st *store.Store, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return exitError{2, "export: " + err.Error()}
	}
	err = st.Export(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func auditVerifyCommand(src *auditSource) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [EXPORT.jsonl]",
		Short: "Verify the chain and name the first record that does not hold",
		Long: "Compute every hash of the store, or of an export, again. It exits with 0 when the chain holds and with 1 when it does not,\n" +
			"and then names the first record that was edited, moved or taken out.\n\n" +
			"The head of the chain is not signed. Whoever could rewrite the whole store or the whole export, its head included, is not\n" +
			"found out: an export whose end was cut together with its head line, and which was given a new head line, verifies.\n" +
			"To see that, compare the head that is printed with one that was kept elsewhere.",
		Example: "  gatehouse audit verify\n  gatehouse audit verify audit.jsonl --json\n  zcat audit.jsonl.gz | gatehouse audit verify -",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := auditVerify(cmd, *src, args)
			var broken *audit.Broken
			if asJSON && (err == nil || errors.As(err, &broken)) {
				return errors.Join(auditAnswer(err), json.NewEncoder(cmd.OutOrStdout()).Encode(verificationOf(report, broken)))
			}
			if err != nil {
				return auditAnswer(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "ok: %d records, head %x\n", report.Records, report.Head.Hash)
			fmt.Fprintln(cmd.ErrOrStderr(), "note: the head is not signed; records cut from the end together with the head cannot be seen without a signed head")
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as an object")
	return cmd
}

// verification is the report of a verification as programs read it.
type verification struct {
	OK      bool   `json:"ok"`
	Records int64  `json:"records"` // that hold
	Head    string `json:"head"`    // hex, computed from the records; not signed
	Broken  *flaw  `json:"broken"`  // null: every record holds
}

// flaw is the first record that does not hold.
type flaw struct {
	Seq    int64  `json:"seq"`
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

func verificationOf(r audit.Report, b *audit.Broken) verification {
	v := verification{OK: b == nil, Records: r.Records, Head: hex.EncodeToString(r.Head.Hash[:])}
	if b != nil {
		v.Broken = &flaw{b.Seq, b.ID, b.Reason}
	}
	return v
}

func auditVerify(cmd *cobra.Command, src auditSource, args []string) (audit.Report, error) {
	if len(args) == 0 {
		st, err := src.open(cmd.Context())
		if err != nil {
			return audit.Report{}, err
		}
		defer st.Close()
		return st.Verify(cmd.Context())
	}
	if args[0] == "-" {
		return audit.VerifyExport(cmd.InOrStdin())
	}
	f, err := os.Open(args[0])
	if err != nil {
		return audit.Report{}, exitError{2, "verify: " + err.Error()}
	}
	defer f.Close()
	return audit.VerifyExport(bufio.NewReader(f))
}

// auditAnswer gives an error that has no exit code yet the code of a negative answer.
func auditAnswer(err error) error {
	var exit exitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return exitError{1, err.Error()}
}
