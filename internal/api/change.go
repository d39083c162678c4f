package api

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Answers keeps the answers to mutations.
type Answers interface {
	// Answer finds what a caller's mutation was answered, not longer ago than since; ok is false when there is none.
	Answer(ctx context.Context, caller string, key [32]byte, since time.Time) (request [32]byte, answer []byte, ok bool, err error)
	// KeepAnswer keeps an answer, and drops those of before a time.
	KeepAnswer(ctx context.Context, caller string, key, request [32]byte, answer []byte, at, before time.Time) error
}

// answerAge is how long an answer is kept.
const answerAge = 24 * time.Hour

// kept is an answer as it is kept.
type kept struct {
	Status  int    `json:"status"`
	Schema  string `json:"schema,omitempty"`
	Body    []byte `json:"body,omitempty"`
	Agent   string `json:"agent,omitempty"` // that the first request was bound to, and its session: headers of every answer
	Session string `json:"session,omitempty"`

	Decisions []gatehouse.Decision `json:"decisions,omitempty"` // that its header told of
}

// change does a mutation, writes its record and keeps its answer, in one transaction. With an Idempotency-Key that was used
// before it only answers again.
func (a *API) change(ctx context.Context, r *request, rt *route) (err error) {
	if r.body, err = r.Body(maxBody); err != nil {
		return err
	}
	key, leave, err := a.alone(r)
	if err != nil {
		return err
	}
	defer leave()
	var said kept
	replayed := false
	done := false
	defer func() {
		if !done {
			r.X.Event = nil
		}
	}()
	err = a.Transact(ctx, func(ctx context.Context) error {
		if key != "" {
			if said, replayed, err = a.again(ctx, r, key); replayed || err != nil {
				return err
			}
		}
		said, err = a.once(ctx, r, rt)
		if err != nil || key == "" {
			return err
		}
		return a.keep(ctx, r, key, said)
	})
	var told *gatehouse.Failure
	if err != nil && !errors.As(err, &told) {
		err = &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable", Message: "the store could not keep it: nothing was changed", Err: err}
	}
	if err != nil {
		return err
	}
	done, r.Recorded = true, true
	if replayed {
		r.replay(said)
		return nil
	}
	if rt.wakes {
		a.Approvals.Wake()
	}
	if err := a.Authority.Refresh(context.WithoutCancel(ctx)); err != nil {
		a.Log.Error("keys cannot be read again", "request_id", r.X.ID, "error", err)
	}
	r.send(said.Status, said.Schema, said.Body)
	return nil
}

// replay answers again what was answered before.
func (r *request) replay(said kept) {
	r.Own.Set("Idempotent-Replay", "true")
	r.X.Agent, r.X.Session, r.X.Decisions = said.Agent, said.Session, said.Decisions
	r.send(said.Status, said.Schema, said.Body)
}

// alone reads the Idempotency-Key, empty when there is none, and keeps other requests with the same one out until leave is
// called.
func (a *API) alone(r *request) (key string, leave func(), err error) {
	if key, err = r.idempotencyKey(); key == "" || err != nil {
		return "", func() {}, err
	}
	leave, ok := a.flights.enter(r.caller() + " " + key)
	if !ok {
		return "", nil, surface.Failure(http.StatusConflict, "idempotency_in_flight", "a request with this Idempotency-Key is still running")
	}
	return key, leave, nil
}

// once does the mutation and writes its record.
func (a *API) once(ctx context.Context, r *request, rt *route) (kept, error) {
	result, err := rt.do(ctx, r)
	if err != nil {
		return kept{}, err
	}
	body, err := r.render(result)
	if err != nil {
		return kept{}, err
	}
	r.X.Status = result.status
	switch {
	case body == nil:
		r.X.Status = http.StatusNoContent
	case result.status == 0:
		r.X.Status = http.StatusOK
	}
	return kept{r.X.Status, result.schema, body, r.X.Agent, r.X.Session, nil}, a.Checker.Finish(ctx, r.X)
}

// caller tells callers apart: by their key, or where none is asked for by the credential that they have.
func (r *request) caller() string {
	if r.who.Keyed {
		return r.who.Key
	}
	return "credential-" + session.CredentialHash(r.who.Credential, "")
}

const maxIdempotencyKey = 255

func (r *request) idempotencyKey() (string, error) {
	values := r.R.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey {
		return "", surface.Failure(http.StatusBadRequest, "invalid_idempotency_key", "Idempotency-Key must stand there once and have 1 to 255 bytes")
	}
	return key, nil
}

// fingerprint is what a repeated request must have in common with the first.
func (r *request) fingerprint() [32]byte {
	h := sha256.New()
	for _, part := range [...]string{r.R.Method, r.R.URL.Path, r.R.URL.RawQuery, r.version, r.In.Agent, string(r.body)} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return [32]byte(h.Sum(nil))
}

// again finds the answer that an earlier request with the same key got.
func (a *API) again(ctx context.Context, r *request, key string) (said kept, ok bool, err error) {
	request, sealed, ok, err := a.Answers.Answer(ctx, r.caller(), sha256.Sum256([]byte(key)), time.Now().Add(-answerAge))
	if err != nil || !ok {
		return kept{}, false, err
	}
	if request != r.fingerprint() {
		return kept{}, false, surface.Failure(http.StatusUnprocessableEntity, "idempotency_key_reused", "this Idempotency-Key was used for another request")
	}
	box, err := r.box(key)
	if err != nil {
		return kept{}, false, err
	}
	if len(sealed) < box.NonceSize() {
		return kept{}, false, errors.New("a kept answer was edited")
	}
	raw, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], request[:])
	if err != nil {
		return kept{}, false, surface.Failure(http.StatusConflict, "idempotency_answer_sealed",
			"this was done, and the API key has been rotated since: only the old one opened the answer")
	}
	err = json.Unmarshal(raw, &said)
	return said, true, err
}

// keep keeps the answer, encrypted under a key that follows from the caller's own: it may hold a secret that is shown once.
func (a *API) keep(ctx context.Context, r *request, key string, said kept) error {
	raw, err := json.Marshal(said)
	if err != nil {
		return err
	}
	box, err := r.box(key)
	if err != nil {
		return err
	}
	request, nonce, now := r.fingerprint(), make([]byte, box.NonceSize()), time.Now()
	rand.Read(nonce) // never fails: crypto/rand ends the program instead
	sealed := box.Seal(nonce, nonce, raw, request[:])
	return a.Answers.KeepAnswer(ctx, r.caller(), sha256.Sum256([]byte(key)), request, sealed, now, now.Add(-answerAge))
}

// box encrypts for the caller alone.
func (r *request) box(key string) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, []byte(r.who.Credential), []byte(key), "gatehouse answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// flights are the mutations that are running in this process, by caller and Idempotency-Key.
type flights struct {
	mu      sync.Mutex
	running map[string]bool
}

// enter lets one in; leave lets it out.
func (f *flights) enter(name string) (leave func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[name] {
		return nil, false
	}
	if f.running == nil {
		f.running = map[string]bool{}
	}
	f.running[name] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, name)
	}, true
}
