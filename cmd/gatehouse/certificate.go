package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// certificate is what the gateway shows to clients: a pair of files, which is read again when one of them has changed. A pair that
// cannot be used leaves the one before in force.
type certificate struct {
	files [2]string // chain and private key, PEM
	log   *slog.Logger

	mu    sync.Mutex
	tried [2]os.FileInfo // the files as they were when they were last read
	pair  *tls.Certificate
}

// openCertificate reads the pair for the first time: without one nothing can be served.
func openCertificate(chain, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: [2]string{chain, key}, log: log}
	if _, err := c.changed(); err != nil {
		return nil, err
	}
	err := c.read()
	return c, err
}

// config is how connections are secured. With h2 among the protocols net/http speaks HTTP/2.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.get}
}

// get is the certificate for a handshake. The files are looked at each time: that is nothing beside the handshake, and no event
// can be missed.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.changed()
	if !changed {
		return c.pair, nil
	}
	if err == nil {
		err = c.read()
	}
	if err != nil {
		c.log.Error("certificate refused, the old one stays in force", "error", err)
	} else {
		c.log.Info("certificate taken over", "file", c.files[0])
	}
	return c.pair, nil
}

// changed looks whether the files are others than those that were last read, and takes note of what they are. A file that is gone
// is a change, too, once.
func (c *certificate) changed() (changed bool, err error) {
	for i, name := range c.files {
		now, bad := os.Stat(name)
		was := c.tried[i]
		c.tried[i] = now
		if bad != nil {
			c.tried[i], err = nil, fmt.Errorf("tls: %w", bad)
		}
		if (was == nil) != (c.tried[i] == nil) || was != nil && !sameFile(was, now) {
			changed = true
		}
	}
	return changed, err
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// read takes over the pair. Its errors name the files and quote nothing of them.
func (c *certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return fmt.Errorf("tls: %s and %s: %w", c.files[0], c.files[1], err)
	}
	c.pair = &pair
	return nil
}
