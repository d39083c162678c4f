package config

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be quiet before it is read: editors write in several steps.
const settle = 100 * time.Millisecond

// Watch begins to watch a file and returns; it ends with the context. Every time the file's content has changed, changed
// gets the new configuration or failed says why the old one stays. Both are called from one goroutine. Directories are
// watched, not the file, so that replaced files and the symbolic links of mounted volumes are followed.
func Watch(ctx context.Context, path string, changed func(*Config), failed func(error)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch configuration: %w", err)
	}
	f := &watched{path: path, watcher: w}
	if err := f.follow(); err != nil {
		w.Close()
		return fmt.Errorf("watch configuration: %w", err)
	}
	f.last = f.digest()
	go func() {
		defer w.Close()
		f.run(ctx, changed, failed)
	}()
	return nil
}

type watched struct {
	path    string
	watcher *fsnotify.Watcher
	last    [sha256.Size]byte
}

// follow watches the directory of the file and that of what it links to. Links move, so it is called again after events;
// to add a directory twice does nothing.
func (f *watched) follow() error {
	if err := f.watcher.Add(filepath.Dir(f.path)); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		return f.watcher.Add(filepath.Dir(target))
	}
	return nil
}

func (f *watched) run(ctx context.Context, changed func(*Config), failed func(error)) {
	quiet := time.NewTimer(settle)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			quiet.Reset(settle)
		case err, ok := <-f.watcher.Errors:
			if !ok {
				return
			}
			failed(fmt.Errorf("watch configuration: %w", err))
			quiet.Reset(settle) // events may have been lost
		case <-quiet.C:
			if err := f.follow(); err != nil {
				failed(fmt.Errorf("watch configuration: %w", err))
			}
			f.reload(changed, failed)
		}
	}
}

// reload reads the file when its content is not what it was; other files of the directory cause events too.
func (f *watched) reload(changed func(*Config), failed func(error)) {
	data, err := os.ReadFile(f.path)
	sum := digest(data, err)
	if sum == f.last {
		return
	}
	f.last = sum
	if err != nil {
		failed(fmt.Errorf("read configuration: %w", err))
		return
	}
	if len(bytes.TrimSpace(data)) == 0 {
		failed(errors.New("the file is empty: it may be about to be written")) // and no rules at all would be in force
		return
	}
	c, err := Parse(f.path, data)
	if err != nil {
		failed(err)
		return
	}
	changed(c)
}

func (f *watched) digest() [sha256.Size]byte { return digest(os.ReadFile(f.path)) }

// digest stands for the content of a file; that of one that cannot be read is zero.
func digest(data []byte, err error) [sha256.Size]byte {
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(data)
}
