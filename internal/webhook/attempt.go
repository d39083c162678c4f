package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
)

const userAgent = "Gatehouse-Webhook/1"

// Attempt is a delivery that is due and claimed, with all that is needed to make it.
type Attempt struct {
	Delivery Delivery
	Endpoint Endpoint
	Event    Event
	Holder   string // of the claim
}

// End is how an attempt ended.
type End int

// The ends there are.
const (
	Released  End = iota // it was not made: somebody else may claim the delivery at once
	Succeeded            // 2xx
	Failed               // anything else
	Refused              // 410: the endpoint wants nothing any more
)

// Result is an attempt that has ended. Its delivery says what comes next.
type Result struct {
	Attempt
	End End
}

// sender makes attempts.
type sender struct {
	client *http.Client
	box    *seal.Box
	limit  time.Duration // of one attempt, the connection included
	now    func() time.Time
}

// make makes one attempt. When the context ends before there is an answer it was not made.
func (s *sender) make(ctx context.Context, a Attempt) Result {
	status, fault := s.post(ctx, a)
	if ctx.Err() != nil && status == 0 {
		return Result{Attempt: a, End: Released}
	}
	return conclude(a, status, fault, s.now())
}

// conclude is what comes of a status, or of a fault where there was none.
func conclude(a Attempt, status int, fault Fault, now time.Time) Result {
	d := &a.Delivery
	d.Attempts++
	d.LastStatus, d.LastError, d.Updated = status, fault, now
	if fault == "" {
		d.State, d.NextAt = Delivered, time.Time{}
		return Result{Attempt: a, End: Succeeded}
	}
	if wait, more := retryAfter(d.Attempts); more && !permanent(status) {
		d.NextAt = now.Add(wait)
	} else {
		d.State, d.NextAt = Dead, time.Time{}
	}
	if status == http.StatusGone {
		return Result{Attempt: a, End: Refused}
	}
	return Result{Attempt: a, End: Failed}
}

// post sends the event and returns the status, or what was in the way.
func (s *sender) post(ctx context.Context, a Attempt) (int, Fault) {
	secret, err := s.box.Open(a.Endpoint.Sealed, a.Endpoint.owner())
	if err != nil {
		return 0, FaultSecret
	}
	body, err := a.Event.Body()
	if err != nil {
		return 0, FaultConnect
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return 0, FaultTarget
	}
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	req.Header = http.Header{
		"Content-Type":        {"application/json"},
		"User-Agent":          {userAgent},
		"X-Webhook-Id":        {a.Event.ID},
		"X-Webhook-Timestamp": {timestamp},
		"X-Webhook-Signature": {sign(secret, timestamp, body)},
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, faultOf(err)
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, FaultStatus
	}
	return resp.StatusCode, ""
}

// sign is the X-Webhook-Signature: v1= and HMAC-SHA-256 under the secret's bytes, prefix included, of the timestamp, a dot and
// the body, in hex.
func sign(secret []byte, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(timestamp + "."))
	h.Write(body)
	return "v1=" + hex.EncodeToString(h.Sum(nil))
}

// faultOf names what was in the way. What the error says is not kept: it quotes the URL, which may hold a secret.
func faultOf(err error) Fault {
	var timeout net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, errTarget):
		return FaultTarget
	case errors.As(err, &timeout) && timeout.Timeout():
		return FaultTimeout
	case errors.As(err, &dns):
		return FaultDNS
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return FaultTLS
	}
	return FaultConnect
}
