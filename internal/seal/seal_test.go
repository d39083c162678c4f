package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
)

func box(t *testing.T, fill byte) *seal.Box {
	t.Helper()
	b, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpensOnlyWhatItSealed(t *testing.T) {
	b := box(t, 1)
	sealed := b.Seal([]byte("a secret"), "webhook:1")
	if bytes.Contains(sealed, []byte("a secret")) {
		t.Error("the secret stands in what was sealed")
	}
	if bytes.Equal(sealed, b.Seal([]byte("a secret"), "webhook:1")) {
		t.Error("two sealings are the same")
	}
	if got, err := b.Open(sealed, "webhook:1"); err != nil || string(got) != "a secret" {
		t.Fatalf("got %q, %v", got, err)
	}
	for name, c := range map[string]struct {
		box    *seal.Box
		sealed []byte
		owner  string
	}{
		"another owner":          {b, sealed, "webhook:2"},
		"another key":            {box(t, 2), sealed, "webhook:1"},
		"another version":        {b, append([]byte{2}, sealed[1:]...), "webhook:1"},
		"cut short":              {b, sealed[:len(sealed)-1], "webhook:1"},
		"no more than a version": {b, sealed[:1], "webhook:1"},
		"empty":                  {b, nil, "webhook:1"},
	} {
		if got, err := c.box.Open(c.sealed, c.owner); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := b.Open(changed, "webhook:1"); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

func TestNewRefusesOtherSizes(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := seal.New(make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes was taken", n)
		}
	}
}

func TestLoadMakesTheFileOnce(t *testing.T) {
	t.Setenv(seal.Variable, "")
	path := filepath.Join(t.TempDir(), "gatehouse.db.key")
	boxes := make([]*seal.Box, 8)
	var all sync.WaitGroup
	for i := range boxes {
		all.Go(func() {
			b, err := seal.Load(path)
			if err != nil {
				t.Error(err)
			}
			boxes[i] = b
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	sealed := boxes[0].Seal([]byte("x"), "")
	for _, b := range boxes {
		if _, err := b.Open(sealed, ""); err != nil {
			t.Error("two who loaded at once have different keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func TestLoadPrefersTheEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	t.Setenv(seal.Variable, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))+"\n")
	b, err := seal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box(t, 1).Open(b.Seal([]byte("x"), ""), ""); err != nil {
		t.Error("it is not the variable's key")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a file was made all the same")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for _, c := range []struct{ name, env, path, want string }{
		{"neither variable nor path", "", "", "no key to seal secrets with"},
		{"a variable that is no key", "c2hvcnQ=", "", "GATEHOUSE_KEY does not hold a key"},
		{"a file that others can read", "", write("open", good, 0o640), "chmod 600"},
		{"a file that holds something else", "", write("notes", "correct horse", 0o600), "does not hold a key"},
		{"an empty file", "", write("empty", "", 0o600), "read the seal key"},
		{"a directory", "", dir, "is not a file"},
		{"a directory that is not there", "", filepath.Join(dir, "no", "key"), "make the seal key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(seal.Variable, c.env)
			_, err := seal.Load(c.path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q in it", err, c.want)
			}
			for _, secret := range []string{"c2hvcnQ", "correct horse", good} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error quotes the key: %v", err)
				}
			}
		})
	}
}
