package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
)

var (
	sessionPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
	namePattern    = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]{0,30}[a-zA-Z0-9]$`)
)

// ValidName reports whether a text may name an agent (X-Mnemom-Agent of a request).
func ValidName(name string) bool { return namePattern.MatchString(name) }

// ValidAgentID reports whether a text has the form of an agent's id, mnm-<uuid>.
func ValidAgentID(id string) bool {
	rest, ok := strings.CutPrefix(id, "mnm-")
	return ok && uuid.Validate(rest) == nil && len(rest) == 36
}

// ValidID reports whether a text may name a session (X-Mnemom-Session of a request).
func ValidID(id string) bool { return sessionPattern.MatchString(id) }

// CredentialHash is the agent_hash: the first 16 hex digits of SHA-256 over the credential, or over credential|name.
func CredentialHash(credential, name string) string { return HashProof(credential, name)[:16] }

// HashProof is the whole of that: 64 hex digits, which only those can show who have the credential.
func HashProof(credential, name string) string {
	if name != "" {
		credential += "|" + name
	}
	sum := sha256.Sum256([]byte(credential))
	return hex.EncodeToString(sum[:])
}

// Resolver finds out whose exchange it is and to which session it belongs.
type Resolver struct {
	Store Store
	Key   []byte // of the gateway, for every keyed hash
	Box   Box    // seals excerpts of what was said; nil: none are kept
	// Memory is of transcripts; nil: each is written anew.
	Memory *Memory
}

// Agent finds the agent of a credential, whichever account it belongs to; an unknown one is the given account's. known is
// false when nothing is stored about it yet. The id of an unknown agent follows from the gateway's key, so that it is the same on
// every replica and before and after it is stored. With an error, a is the agent as if it were unknown.
func (r *Resolver) Agent(ctx context.Context, account, credential, name string) (a Agent, known bool, err error) {
	hash := CredentialHash(credential, name)
	if a, known, err = r.Store.AgentByHash(ctx, hash); err == nil && known {
		return a, true, nil
	}
	a = Agent{Hash: hash, Name: name, Account: account, Credential: CredentialHash(credential, "")}
	for n := 0; ; n++ {
		if a.ID = r.newID(hash, n); err != nil {
			return a, false, err
		}
		// An agent that was made for this credential and bound to another since keeps its id.
		has, taken, err := r.Store.AgentByID(ctx, a.ID)
		if taken && has.Hash == hash {
			return has, true, nil
		}
		if !taken || err != nil {
			return a, false, err
		}
	}
}

// newID is the id of an agent that is not known yet; n counts those that had this credential before.
func (r *Resolver) newID(hash string, n int) string {
	mac := hmac.New(sha256.New, r.Key)
	mac.Write([]byte("agent|" + hash))
	if n > 0 {
		mac.Write([]byte("|" + strconv.Itoa(n)))
	}
	id := uuid.UUID(mac.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, RFC 9562 variant
	return "mnm-" + id.String()
}

// Proof is what is kept of a hash proof: its HMAC under the gateway's key, in hex.
func (r *Resolver) Proof(hashProof string) string {
	d := r.keyed("proof", hashProof)
	return hex.EncodeToString(d[:])
}

// Session finds the session of a request: the header's if it is well formed, else the one whose last turn ended with the
// transcript that the request begins with, else a new one. fresh is true for a new one, which comes with an error too.
func (r *Resolver) Session(ctx context.Context, x *gatehouse.Exchange, header string) (id string, fresh bool, err error) {
	if ValidID(header) {
		return header, false, nil
	}
	if digest, later := r.lastTurn(x); later {
		id, ok, err := r.Store.SessionByTranscript(ctx, x.Agent, digest)
		if err != nil {
			return newID(), true, fmt.Errorf("find session: %w", err)
		}
		if ok {
			return id, false, nil
		}
	}
	return newID(), true, nil
}

// newID is a session's id that begins with the time (UUIDv7, RFC 9562): what a store keeps by session then stands together
// instead of all over it. Its 74 other bits are random.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
