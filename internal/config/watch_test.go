package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watching collects what a watch says.
type watching struct {
	configs chan *Config
	errs    chan error
}

func watch(t *testing.T, path string) watching {
	t.Helper()
	w := watching{make(chan *Config, 16), make(chan error, 16)}
	if err := Watch(t.Context(), path, func(c *Config) { w.configs <- c }, func(err error) { w.errs <- err }); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w watching) wantListen(t *testing.T, want string) {
	t.Helper()
	select {
	case c := <-w.configs:
		if c.Listen != want {
			t.Fatalf("got %s, want %s", c.Listen, want)
		}
	case err := <-w.errs:
		t.Fatal(err)
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was reloaded")
	}
}

func (w watching) wantError(t *testing.T) {
	t.Helper()
	select {
	case <-w.configs:
		t.Fatal("a bad file was taken")
	case <-w.errs:
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was said")
	}
}

func (w watching) wantSilence(t *testing.T) {
	t.Helper()
	select {
	case <-w.configs:
		t.Fatal("reloaded without a change")
	case err := <-w.errs:
		t.Fatal(err)
	case <-time.After(3 * settle):
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWatchFollowsWritesAndReplacements(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gatehouse.yaml")
	write(t, path, "listen: :1")
	w := watch(t, path)

	write(t, path, "listen: :2")
	w.wantListen(t, ":2")

	write(t, filepath.Join(dir, "other.yaml"), "nope")
	w.wantSilence(t)

	write(t, path, "listen: nonsense")
	w.wantError(t)

	write(t, path+".new", "listen: :3")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	w.wantListen(t, ":3")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.wantError(t)
	write(t, path, "listen: :4")
	w.wantListen(t, ":4")
}

// TestWatchFollowsMountedVolumes swaps a link to a directory, as mounted configuration volumes do.
func TestWatchFollowsMountedVolumes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"v1": "listen: :1", "v2": "listen: :2"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "gatehouse.yaml"), text)
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("v1", "..data")
	link(filepath.Join("..data", "gatehouse.yaml"), "gatehouse.yaml")
	w := watch(t, filepath.Join(dir, "gatehouse.yaml"))

	link("v2", "..data_tmp")
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	w.wantListen(t, ":2")
	write(t, filepath.Join(dir, "v2", "gatehouse.yaml"), "listen: :3")
	w.wantListen(t, ":3")
}
