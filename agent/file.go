package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// ErrConflict says that another process goes on with the run.
var ErrConflict = errors.New("another process goes on with this run")

// File keeps one run in a file, readable by its owner only: the path of a JSON document. Beside it stands
// PATH.REVISION, the claim of the latest save, which only one process can make: of two that resume the same run, one gets
// [ErrConflict] before any tool runs. A file is for one run.
type File string

// Load reads the run; the error is [fs.ErrNotExist] when there is none yet.
func (f File) Load() (*State, error) {
	s, err := read(string(f))
	first := errors.Is(err, fs.ErrNotExist)
	if err != nil && !first {
		return nil, err
	}
	next := 1
	if !first {
		next = s.Revision + 1
	}
	// A process that was killed while it saved has left the newer one here.
	if newer, err := read(f.claim(next)); err == nil {
		return newer, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, err
}

// Save replaces the run, if it is the very next revision of the one that stands there.
func (f File) Save(s *State) (err error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	whole, err := f.write(data)
	if err != nil {
		return err
	}
	defer os.Remove(whole) //nolint:errcheck // renamed, or of no use
	// Of all that write this revision, one makes the link.
	switch err := os.Link(whole, f.claim(s.Revision)); {
	case errors.Is(err, fs.ErrExist):
		return ErrConflict
	case err != nil:
		return err
	}
	// Older claims are gone, but what they claimed stands in the file before they go.
	if err := f.follows(s); err != nil {
		os.Remove(f.claim(s.Revision)) //nolint:errcheck // ours
		return err
	}
	if err := os.Rename(whole, string(f)); err != nil {
		return err
	}
	os.Remove(f.claim(s.Revision - 1)) //nolint:errcheck // the first has none before it
	return nil
}

// follows refuses a run that does not go on from the one in the file.
func (f File) follows(s *State) error {
	stands, err := read(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case stands.ID != s.ID:
		return errors.New("the file holds another run")
	case stands.Revision >= s.Revision:
		return ErrConflict
	}
	return nil
}

func (f File) claim(revision int) string { return string(f) + "." + strconv.Itoa(revision) }

// write puts the document on the disk beside the file.
func (f File) write(data []byte) (name string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(append(data, '\n'))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		os.Remove(tmp.Name()) //nolint:errcheck // it is not whole
	}
	return tmp.Name(), err
}

func read(name string) (*State, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := new(State)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}
