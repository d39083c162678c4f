package upstream

import (
	"context"
	"errors"
	"io"
	"time"
)

// watchdog calls bark when it has not been fed for its time.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

func newWatchdog(idle time.Duration, bark func()) *watchdog {
	return &watchdog{timer: time.AfterFunc(idle, bark), idle: idle}
}

func (w *watchdog) feed() { w.timer.Reset(w.idle) }
func (w *watchdog) stop() { w.timer.Stop() }

// watched is a body whose reads must not take longer than the watchdog waits. Between two of them it sleeps: that a client takes
// its time is not the upstream's fault.
type watched struct {
	io.ReadCloser
	watch  *watchdog
	cancel context.CancelCauseFunc
	ctx    context.Context
}

func (w *watched) Read(p []byte) (int, error) {
	w.watch.feed()
	n, err := w.ReadCloser.Read(p)
	w.watch.stop()
	if err != nil && !errors.Is(err, io.EOF) && context.Cause(w.ctx) != nil {
		err = context.Cause(w.ctx)
	}
	return n, err
}

// Write writes to an upstream that has switched protocols.
func (w *watched) Write(p []byte) (int, error) {
	out, ok := w.ReadCloser.(io.Writer)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	w.watch.feed()
	return out.Write(p)
}

func (w *watched) Close() error {
	w.watch.stop()
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}
