package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Process is a measured server in a process of its own. It says where it listens, and what it has used whenever it is
// asked, in JSON lines over its standard input and output; [Report] is its side of that.
type Process struct {
	URL string

	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Usage is what a process has used since it began.
type Usage struct {
	CPU  time.Duration `json:"cpu_ns"`         // user and system
	Peak int64         `json:"peak_rss_bytes"` // most resident memory; 0 where the system does not say
}

// hello is the first line of a server.
type hello struct {
	URL string `json:"url"`
}

// Start starts a server and waits until it says where it listens.
func Start(cmd *exec.Cmd) (*Process, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, in: in, out: json.NewDecoder(out)}
	var h hello
	if err := p.out.Decode(&h); err != nil {
		p.Close() //nolint:errcheck // the first error says more
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	p.URL = h.URL
	return p, nil
}

// Usage asks the server what it has used.
func (p *Process) Usage() (u Usage, err error) {
	if _, err = io.WriteString(p.in, "usage\n"); err == nil {
		err = p.out.Decode(&u)
	}
	if err != nil {
		return u, fmt.Errorf("ask for usage: %w", err)
	}
	return u, nil
}

// Profile tells the server to profile what it does from now until it ends, if it was started so that it can.
func (p *Process) Profile() error {
	_, err := io.WriteString(p.in, "profile\n")
	return err
}

// Close tells the server to end, and waits for it.
func (p *Process) Close() error {
	p.in.Close()
	return p.cmd.Wait()
}

// Report is the server's side: it says where the server listens, answers questions, and returns when the other side has
// closed. profile is called when a profile is asked for.
func Report(in io.Reader, out io.Writer, url string, profile func() error) error {
	enc := json.NewEncoder(out)
	if err := enc.Encode(hello{url}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var err error
		switch lines.Text() {
		case "usage":
			var u Usage
			if u, err = usage(); err == nil {
				err = enc.Encode(u)
			}
		case "profile":
			err = profile()
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
