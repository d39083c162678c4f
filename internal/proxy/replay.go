package proxy

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Approvals finds what waits for a human; *approval.Queue is one.
type Approvals interface {
	Get(ctx context.Context, id string) (approval.Approval, error)
	Card(a approval.Approval) (*approval.Card, error)
}

var approvalID = regexp.MustCompile(`\bapr-[0-9a-f]{32}\b`)

// maxReleased bounds the approvals that one notice is asked about.
const maxReleased = 32

// released are the calls that a human has approved since the last turn, which told of them: the answer need not come from the
// model again. What cannot be read is asked of the model.
func (p *Proxy) released(ctx context.Context, t *turn) []wire.Call {
	if !t.s.Replay || p.Approvals == nil || t.X.Wordless || t.door.keys != nil { // what is fetched is asked of the provider, and its calls are judged
		return nil
	}
	var calls []wire.Call
	t.X.Released = nil
	for _, n := range noticed(t.X.Request) {
		a, err := p.latest(ctx, n.approval)
		if err != nil || a.Agent != t.X.Agent || a.Session != t.X.Session || a.Standing(time.Now()) != approval.Approved {
			continue
		}
		card, err := p.Approvals.Card(a)
		if err != nil || card == nil {
			p.Log.Error("the call of an approval cannot be read", "request_id", t.X.ID, "approval", a.ID, "error", err)
			continue
		}
		t.X.Released = append(t.X.Released, a.ID)
		calls = append(calls, wire.Call{Tool: a.Tool, ID: cmp.Or(n.call, a.CallID), Arguments: card.Arguments, Freeform: card.Freeform})
	}
	return calls
}

// latest is an approval, or the one that was made of it when a human approved its lost call again.
func (p *Proxy) latest(ctx context.Context, id string) (a approval.Approval, err error) {
	for range maxReleased {
		if a, err = p.Approvals.Get(ctx, id); err != nil || a.Again == "" {
			return a, err
		}
		id = a.Again
	}
	return a, err
}

// notice is what the last turn told of an approval.
type notice struct {
	approval string
	call     string // the id of the call for which the provider, which keeps the conversation, wants a result; else empty
}

// noticed are the approvals that the last turn of the assistant names, each once, in its order.
func noticed(request []gatehouse.Part) (list []notice) {
	end := slices.IndexFunc(request, func(p gatehouse.Part) bool { return p.Latest })
	if end < 0 {
		end = len(request)
	}
	begin := end
	for begin > 0 && request[begin-1].Role == gatehouse.Assistant {
		begin--
	}
	for i, p := range request {
		// Of a conversation that the provider keeps, what the gateway supplies is all that the request tells of the last turn.
		supplied := p.Inserted && p.Kind == gatehouse.ToolResult
		if !supplied && (i < begin || i >= end || p.Kind != gatehouse.Text) {
			continue
		}
		for _, id := range approvalID.FindAllString(p.Original(), maxReleased) {
			if len(list) < maxReleased && !slices.ContainsFunc(list, func(n notice) bool { return n.approval == id }) {
				list = append(list, notice{id, p.CallID})
			}
		}
	}
	return list
}

// release answers in place of the model. The checkpoints read it as they read any answer: policy is asked anew, and the gate uses
// the approvals up.
func (p *Proxy) release(ctx context.Context, t *turn, answer written, f *gatehouse.Flow) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody)
	if err != nil {
		return err
	}
	t.reply, err = (&upstream.Client{Transport: answer}).Send(ctx, r, t.s.Limits, t.door.codec, f, nil)
	return err
}

// written is an upstream that gives one answer.
type written struct {
	body []byte
	kind string // its content type
}

func (w written) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {w.kind}}, ContentLength: int64(len(w.body)),
		Body: io.NopCloser(bytes.NewReader(w.body)), Request: r}, nil
}
