package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Variable is the environment variable that may hold the key.
const Variable = "GATEHOUSE_KEY"

// Load makes a box of the operator's key: that of the environment variable [Variable] (base64, 32 bytes) if it is set, else that
// of the file, which is made if it is missing. A file that others can read is refused. Without the variable an empty path is an
// error. Errors never quote the key.
func Load(path string) (*Box, error) {
	if text := os.Getenv(Variable); text != "" {
		return parse([]byte(text), Variable)
	}
	if path == "" {
		return nil, fmt.Errorf("no key to seal secrets with: set %s to the base64 of %d random bytes", Variable, KeySize)
	}
	text, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("make the seal key: %w", err)
		}
		text, err = readKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the seal key: %w", err)
	}
	return parse(text, path)
}

func parse(text []byte, from string) (*Box, error) {
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != KeySize {
		return nil, fmt.Errorf("%s does not hold a key: want the base64 of %d bytes", from, KeySize)
	}
	return New(key)
}

func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %04o): run chmod 600 on it", path, info.Mode().Perm())
	}
	text := make([]byte, 128) // a key has 44
	n, err := f.Read(text)
	if n > 0 {
		return text[:n], nil
	}
	return nil, err
}

// makeKey makes the file with a fresh key. Of several processes that do so at once one succeeds, and no other ever sees half
// a file.
func makeKey(path string) error {
	key := make([]byte, KeySize)
	rand.Read(key)                                                        // never fails: crypto/rand ends the program instead
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, unwritten := f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	// On disk before anything is sealed under it.
	if err := errors.Join(unwritten, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
