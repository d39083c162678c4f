package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

const (
	hello    = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	chatPath = "/openai/v1/chat/completions"
)

// TestListeningOpenlyNeedsAKey refuses, runs the command that the refusal names, and serves.
func TestListeningOpenlyNeedsAKey(t *testing.T) {
	model := httptest.NewServer(&fake.OpenAI{})
	defer model.Close()
	url := "sqlite:" + filepath.Join(t.TempDir(), "it's a store", "gatehouse.db")
	if err := os.Mkdir(filepath.Dir(strings.TrimPrefix(url, "sqlite:")), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := file(t, fmt.Sprintf("listen: 0.0.0.0:0\nstore: %q\nupstreams: {openai: {format: openai, url: %q}}\n", url, model.URL))
	refused := command(t, "", "serve", "--config", conf)
	_, words, told := strings.Cut(strings.TrimSpace(refused.stderr), "make one with gatehouse ")
	if refused.code != 1 || !told {
		t.Fatalf("got %+v, want a refusal that names a command", refused)
	}
	args, err := exec.Command("sh", "-c", `printf '%s\n' `+words).Output() // as a shell reads it
	if err != nil {
		t.Fatal(err)
	}
	made := command(t, "", strings.Split(strings.TrimSpace(string(args)), "\n")...)
	key := strings.TrimSpace(made.stdout)
	if made.code != 0 || !strings.HasPrefix(key, "mnm_") {
		t.Fatalf("%s: got %+v", words, made)
	}
	base, _ := startGateway(t, conf)
	base = strings.Replace(base, "[::]", "127.0.0.1", 1)
	for _, c := range []struct {
		name    string
		status  int
		headers []string
	}{
		{"without a key", 401, []string{"Authorization", "Bearer sk-provider"}},
		{"with another key", 401, []string{"Authorization", "Bearer sk-provider", "X-Mnemom-Api-Key", "mnm_unknown"}},
		{"with the key", 200, []string{"Authorization", "Bearer sk-provider", "X-Mnemom-Api-Key", key}},
		{"under any host name", 200, []string{"Authorization", "Bearer sk-provider", "X-Mnemom-Api-Key", key, "Host", "gateway.example"}},
	} {
		if got := ask(t, http.MethodPost, base+chatPath, hello, c.headers...); got.status != c.status {
			t.Errorf("%s: got %d %s, want %d", c.name, got.status, got.body, c.status)
		}
	}
	if got := ask(t, http.MethodGet, base+"/metrics", ""); got.status != http.StatusUnauthorized {
		t.Errorf("metrics without a key: got %d", got.status)
	}
}

func TestModeKeysDemandsKeysOnLoopbackToo(t *testing.T) {
	model := httptest.NewServer(&fake.OpenAI{})
	defer model.Close()
	more := "upstreams: {openai: {format: openai, url: " + model.URL + "}}\n"
	for _, c := range []struct {
		mode   string
		status int
	}{{"auto", 200}, {"keys", 401}} {
		r := startServe(t, gatewayFile(t, newStoreURL(t), more+"auth: {mode: "+c.mode+"}\n"), "")
		got := ask(t, http.MethodPost, "http://"+r.address+chatPath, hello, "Authorization", "Bearer sk-provider")
		if got.status != c.status {
			t.Errorf("%s: got %d %s, want %d", c.mode, got.status, got.body, c.status)
		}
	}
}

func TestAdminToken(t *testing.T) {
	const token = "mnm_the-token-of-the-environment"
	listKeys := func(r *running, token string) int {
		return ask(t, http.MethodGet, "http://"+r.address+"/v1/keys", "", "Authorization", "Bearer "+token).status
	}
	t.Run("made at the first start and printed once", func(t *testing.T) {
		url := newStoreURL(t)
		first := startServe(t, gatewayFile(t, url, ""), "")
		_, rest, _ := strings.Cut(first.logged(), "admin token: ")
		made, _, _ := strings.Cut(rest, "\n")
		if !strings.HasPrefix(made, "mnm_") || listKeys(first, made) != http.StatusOK || listKeys(first, token) != http.StatusUnauthorized {
			t.Errorf("the printed token does not work")
		}
		again := startServe(t, gatewayFile(t, url, ""), "")
		if strings.Contains(again.logged(), "admin token") || listKeys(again, made) != http.StatusOK {
			t.Error("the second start has another token")
		}
	})
	for name, c := range map[string]struct{ file, flag, changed string }{
		"of the environment, listening as the file says":         {"0.0.0.0:0", "", "127.0.0.1:0"},
		"of the environment, listening as the command line says": {"127.0.0.1:0", "0.0.0.0:0", "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GATEHOUSE_ADMIN_TOKEN", token)
			text := "listen: LISTEN\nstore: " + newStoreURL(t) + "\n"
			conf := file(t, strings.Replace(text, "LISTEN", c.file, 1))
			if got := command(t, "", "keys", "create", "--config", conf); got.code != 0 { // listening openly needs one
				t.Fatalf("%+v", got)
			}
			r := startServe(t, conf, c.flag)
			r.address = strings.Replace(r.address, "[::]", "127.0.0.1", 1)
			if strings.Contains(r.logged(), "admin token") || strings.Contains(r.logged(), token) || listKeys(r, token) != http.StatusOK {
				t.Error("it is not the administrator's")
			}
			// What was said at the start outlasts a change of the file.
			writeFile(t, conf, strings.Replace(text, "LISTEN", c.changed, 1))
			r.awaitLog(t, "configuration taken over", 1)
			if listKeys(r, token) != http.StatusOK {
				t.Error("after a change of the file it is not the administrator's")
			}
			got := ask(t, http.MethodPost, "http://"+r.address+chatPath, hello, "Authorization", "Bearer sk", "Host", "gateway.example")
			if got.status != http.StatusUnauthorized {
				t.Errorf("after a change of the file it takes itself for one on loopback: %d %s", got.status, got.body)
			}
		})
	}
	t.Run("too short", func(t *testing.T) {
		t.Setenv("GATEHOUSE_ADMIN_TOKEN", "short")
		got := command(t, "", "serve", "--config", gatewayFile(t, newStoreURL(t), ""))
		if got.code != 1 || !strings.Contains(got.stderr, "20 bytes") || strings.Contains(got.stderr, "short") {
			t.Errorf("got %+v", got)
		}
	})
}

// What needs a restart is named when it changes, and nothing else is.
func TestServeNamesWhatNeedsARestart(t *testing.T) {
	const first = "listen: 127.0.0.1:0\n"
	for changed, want := range map[string]string{
		"listen: 127.0.0.1:1\n": `"keys":["listen"]`,
		first + "limits: {header_timeout: 11s}\nnotify: {private_targets: [10.0.0.0/8]}\n": `"keys":["limits.header_timeout","notify.private_targets"]`,
		first + "protection: {mode: enforce}\n":                                            "",
	} {
		store := "store: " + newStoreURL(t) + "\n"
		conf := file(t, first+store)
		r := startServe(t, conf, "")
		writeFile(t, conf, changed+store)
		r.awaitLog(t, "configuration taken over", 1)
		if said := r.logged(); strings.Contains(said, "at the next start") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%q: %s", changed, said)
		}
	}
}
