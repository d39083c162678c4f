package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

const (
	keepAlive = 15 * time.Second // between comments, so that nobody on the way takes the stream for dead
	sendTime  = 30 * time.Second // for one event to leave; a client that does not read is not waited for
)

// streamApprovals tells of approvals as they change: those that the caller may read, in order of their versions, until the caller
// leaves, loses the key, or the gateway ends.
func (a *API) streamApprovals(ctx context.Context, r *request) error {
	who, err := a.sight(ctx, r)
	if err != nil {
		return err
	}
	after, err := a.streamFrom(ctx, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life(), cancel)()
	h := r.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	r.Own.Set("X-Mnemom-Schema", "approval_event/v1")
	r.X.Status = http.StatusOK
	r.Head(http.StatusOK)
	r.Log(nil)
	if r.R.Method == http.MethodHead {
		return nil
	}
	changes := make(chan approval.Approval)
	go func() {
		defer close(changes)
		err := a.Approvals.Watch(ctx, after, func(p approval.Approval) error {
			select {
			case changes <- p:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil && ctx.Err() == nil {
			a.Log.Error("approvals cannot be followed", "request_id", r.X.ID, "error", err)
		}
	}()
	a.tell(r, who, changes)
	return nil
}

// streamFrom is the version after which a stream begins: that of the last event which the caller has seen, or the present one.
func (a *API) streamFrom(ctx context.Context, r *request) (int64, error) {
	seen := r.R.Header.Get("Last-Event-ID")
	if seen == "" {
		return a.Approvals.Store.ApprovalVersion(ctx)
	}
	n, err := strconv.ParseInt(seen, 10, 64)
	if err != nil || n < 0 {
		return 0, surface.Failure(http.StatusBadRequest, "invalid_last_event_id", "Last-Event-ID must be the id of an event of this stream")
	}
	return n, nil
}

// tell writes changes until there are no more, or nobody takes them.
func (a *API) tell(r *request, who sight, changes <-chan approval.Approval) {
	out := http.NewResponseController(r.W)
	send := func(text []byte) bool {
		out.SetWriteDeadline(time.Now().Add(sendTime)) //nolint:errcheck // a writer without deadlines, as in tests, waits
		_, err := r.W.Write(text)
		return err == nil && out.Flush() == nil
	}
	defer out.SetWriteDeadline(time.Time{}) //nolint:errcheck // as above
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for ok := send([]byte(": approvals\n\n")); ok && a.current(r) == nil; {
		select {
		case p, more := <-changes:
			if !more {
				return
			}
			if who.sees(p) && a.current(r) == nil {
				ok = send(a.event(p))
			}
		case <-tick.C:
			ok = send([]byte(": still here\n\n"))
		}
	}
}

// event is a change as it is sent (https://html.spec.whatwg.org/multipage/server-sent-events.html).
func (a *API) event(p approval.Approval) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\nid: %d\ndata: ", eventName(p), p.Version)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.approvalShape(p)); err != nil {
		panic(err) // it has nothing that cannot be encoded
	}
	b.WriteString("\n")
	return b.Bytes()
}

// eventName says what an approval has become. Each is told as it is now: one that has changed twice meanwhile is told once.
func eventName(p approval.Approval) string {
	switch {
	case p.State == approval.Pending:
		return "approval.requested"
	case !p.Resulted.IsZero():
		return "approval.delivered"
	}
	return "approval." + string(p.State)
}
