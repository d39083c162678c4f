// Package sdk has the official Go SDKs of the providers talk to the gateway, unchanged but for the base URL. The real binary
// runs in front of the fake providers; nothing here knows how the gateway works inside.
package sdk

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	root     = "../../.."       // of the repository
	patience = 20 * time.Second // for one exchange, a start or an end; the fakes answer at once
	heldKey  = "held-by-the-gateway"
	admin    = "an-admin-token-for-these-tests-only"
)

// What all tests share, set once before the first.
var (
	gatewayURL string
	provider   fakeProvider
)

func TestMain(m *testing.M) {
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// serveAndRun runs the tests between the start and the end of both servers.
func serveAndRun(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-sdk-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	for _, pkg := range []string{"./cmd/gatehouse", "./internal/fake/cmd/fakeprovider"} {
		build := exec.Command("go", "build", "-o", dir, pkg)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	fake, err := startProvider(filepath.Join(dir, "fakeprovider"))
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, fake.stop()) }()
	gateway, err := startGateway(dir)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, gateway.stop()) }()
	return m.Run(), nil
}

// server is a running binary.
type server struct {
	cmd *exec.Cmd
	log *os.File
}

func start(out *io.ReadCloser, log string, name string, args ...string) (*server, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	s := &server{exec.Command(name, args...), file}
	s.cmd.Dir, s.cmd.Stderr = filepath.Dir(name), file
	if out != nil {
		if *out, err = s.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	return s, s.cmd.Start()
}

// stop asks the server to end, which it must do cleanly and in time.
func (s *server) stop() error {
	defer s.log.Close()
	late := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", s.cmd.Path, err)
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("end of %s: %w", s.cmd.Path, err)
	}
	return nil
}

func startProvider(binary string) (*server, error) {
	var out io.ReadCloser
	s, err := start(&out, binary+".log", binary)
	if err != nil {
		return nil, fmt.Errorf("start the fake providers: %w", err)
	}
	if err := json.NewDecoder(out).Decode(&provider); err != nil {
		return nil, errors.Join(fmt.Errorf("read the providers' addresses: %w", err), s.stop())
	}
	return s, nil
}

// startGateway starts the gateway with every default but the upstreams, the port and the place of the database, and waits
// until it listens. GATEHOUSE_STREAMING is another way to stream.
func startGateway(dir string) (*server, error) {
	type upstream = map[string]string
	config, err := json.Marshal(map[string]any{ // JSON is YAML
		"listen":    "127.0.0.1:0",
		"streaming": cmp.Or(os.Getenv("GATEHOUSE_STREAMING"), "auto"),
		"store":     "sqlite:" + filepath.Join(dir, "gatehouse.db"),
		"auth":      map[string]string{"admin_token": admin},
		"upstreams": map[string]upstream{
			"openai":         {"url": provider.OpenAI},
			"anthropic":      {"url": provider.Anthropic},
			"gemini":         {"url": provider.Gemini},
			"lab-openai":     {"format": "openai", "url": provider.OpenAI},
			"lab-anthropic":  {"format": "anthropic", "url": provider.Anthropic},
			"held-openai":    {"format": "openai", "url": provider.OpenAI, "key": heldKey},
			"held-anthropic": {"format": "anthropic", "url": provider.Anthropic, "key": heldKey},
		},
	})
	if err != nil {
		return nil, err
	}
	file, log := filepath.Join(dir, "gatehouse.yaml"), filepath.Join(dir, "gatehouse.log")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	s, err := start(nil, log, filepath.Join(dir, "gatehouse"), "serve", "--config", file)
	if err != nil {
		return nil, fmt.Errorf("start the gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for gatewayURL == "" && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		gatewayURL = listening(log)
	}
	if gatewayURL == "" {
		said, _ := os.ReadFile(log)
		return nil, errors.Join(fmt.Errorf("the gateway does not listen:\n%s", said), s.stop())
	}
	return s, nil
}

// listening finds in a log where the gateway listens; empty while it does not.
func listening(log string) string {
	file, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && strings.EqualFold(line.Msg, "listening") {
			return "http://" + line.Address
		}
	}
	return ""
}
