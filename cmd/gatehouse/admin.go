package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// admin asks the native API as the administrator: whoever may write to the store may do all that it knows. A gateway of this
// process answers, so that rules and records are the same as over HTTP, whether another one is serving from the store or not.
type admin struct {
	config, store string
	json          bool

	gateway *gateway.Gateway
	token   string
}

// adminCommand is the root of a group of commands that work on the store.
func adminCommand(a *admin, use, short, long, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long: long + "\n\nThese commands work on the store, also while a gateway serves from it: it notices within 250 ms. Each change leaves its record\n" +
			"in the audit chain, as made by the administrator.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&a.config, "config", "", "configuration file that names the store")
	cmd.PersistentFlags().StringVar(&a.store, "store", "sqlite:gatehouse.db", "the store itself")
	cmd.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON: what the API answers, of lists the list")
	cmd.MarkFlagsMutuallyExclusive("config", "store")
	return cmd
}

// open opens the store. With fresh, one that is not there is made; without, that is a mistake in its name.
func (a *admin) open(ctx context.Context, fresh bool) (err error) {
	cfg := config.Default()
	if a.config != "" {
		if cfg, err = loadConfig(a.config, 2); err != nil {
			return err
		}
	} else {
		cfg.Store = a.store
	}
	if !fresh {
		st, err := store.OpenReadOnly(ctx, cfg.Store)
		if errors.Is(err, fs.ErrNotExist) {
			return exitError{2, err.Error()}
		}
		if err == nil {
			st.Close() //nolint:errcheck // nothing was written
		}
	}
	a.token = identity.NewToken()
	cfg.Auth.AdminToken = a.token
	cfg.Listen = "127.0.0.1:0" // nothing listens
	cfg.Telemetry = config.Telemetry{}
	if a.gateway, err = gateway.Open(ctx, cfg, gateway.Parts{Still: true}); errors.Is(err, store.ErrDamaged) {
		return exitError{1, err.Error()}
	}
	return err
}

// run does something with the store open. What could not be written at the end is an error too.
func (a *admin) run(ctx context.Context, fresh bool, do func() error) error {
	if err := a.open(ctx, fresh); err != nil {
		return err
	}
	err := do()
	if lost := a.gateway.Close(); err == nil && lost != nil {
		return exitError{1, lost.Error()}
	}
	return err
}

// ask makes one request. body nil is none. The answer is nil when it has none.
func (a *admin) ask(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = "command line" // where a decision comes from, in place of an address
	r.Header.Set("X-Mnemom-Api-Key", a.token)
	r.Header.Set("Content-Type", "application/json")
	w := &reply{header: http.Header{}}
	a.gateway.ServeHTTP(w, r)
	return w.result()
}

// all reads a whole list, page by page. name is its field in the answer.
func (a *admin) all(ctx context.Context, path, name string) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	for {
		page, total, err := a.page(ctx, path, name, 200, len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if len(page) == 0 || len(list) >= total {
			return list, nil
		}
	}
}

// page reads a part of a list.
func (a *admin) page(ctx context.Context, path, name string, limit, offset int) (list []json.RawMessage, total int, err error) {
	where := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	raw, err := a.ask(ctx, http.MethodGet, path+separator+where.Encode(), nil)
	if err != nil {
		return nil, 0, err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(body["total"], &total); err != nil {
		return nil, 0, err
	}
	err = json.Unmarshal(body[name], &list)
	return list, total, err
}

// delete removes a resource, and says so.
func (a *admin) delete(cmd *cobra.Command, path, id string) error {
	if _, err := a.ask(cmd.Context(), http.MethodDelete, path+id, nil); err != nil {
		return err
	}
	if a.json {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"id": id, "deleted": true})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s deleted\n", id)
	return err
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// checkIDs refuses what is no id before it becomes part of a path.
func checkIDs(cmd *cobra.Command, args []string) error {
	for _, id := range args {
		if !idPattern.MatchString(id) {
			return fmt.Errorf("%s: an id has letters, digits, hyphens and underscores only", cmd.CommandPath())
		}
	}
	return nil
}

// reply is an http.ResponseWriter that keeps what is written.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *reply) Header() http.Header { return w.header }

func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *reply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// result is the answer, or what was wrong: with the question, which exits 2, or with what was asked for, which exits 1.
func (w *reply) result() (json.RawMessage, error) {
	if w.status < 300 {
		return bytes.TrimSpace(w.body.Bytes()), nil
	}
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(w.body.Bytes(), &body); err != nil || body.Error.Message == "" {
		body.Error.Message = http.StatusText(w.status)
	}
	if w.status == http.StatusBadRequest {
		return nil, exitError{2, body.Error.Message}
	}
	return nil, exitError{1, body.Error.Message}
}
