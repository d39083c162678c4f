package checkpoint

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/findings"
	"github.com/gatehouse-gateway/gatehouse/internal/keep"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Memory is what an engine remembers of texts, so that a conversation that is sent again costs neither detectors nor the store:
// what was found in them, and what sessions have had decided on them. All of it may vanish at any time.
type Memory struct {
	findings *findings.Memory
	decided  *keep.Memory[*decision]
}

// NewMemory makes a memory of at most limit bytes; with 0 it remembers nothing.
func NewMemory(limit int) *Memory {
	return &Memory{findings.New(limit / 2), keep.New[*decision](limit / 2)}
}

// Limit changes the bound, now.
func (m *Memory) Limit(limit int) {
	m.findings.Limit(limit / 2)
	m.decided.Limit(limit / 2)
}

// Findings says how often it was known what detectors say of a text.
func (m *Memory) Findings() findings.Stats { return m.findings.Stats() }

// decision is what a session has had decided on a text. It is never changed.
type decision struct {
	edits []gatehouse.Edit
	hmac  []byte // of the text, as records have it; nil: not known yet
}

// refused reports whether the text has stopped an exchange: as the newest message it is judged again.
func (d *decision) refused() bool { return len(d.edits) > 0 && d.edits[0].Op == gatehouse.Remove }

// size is about what a decision takes in memory, in bytes.
func (d *decision) size() int {
	const decisionSize, editSize = 96, 80
	n := decisionSize + len(d.hmac)
	for _, e := range d.edits {
		n += editSize + len(e.Text)
	}
	return n
}

// memo is what the engine knows of a part of a request.
type memo struct {
	key     keep.Key        // what the decision on its text is remembered by
	digest  *session.Digest // the text's, where it had to be looked up; see [session.Resolver.TextDigest]
	decided *decision       // nil: nothing
}

func memoOf(p *gatehouse.Part) memo {
	m, _ := p.Memo.(*memo) //nolint:errcheck // none is an empty one
	if m == nil {
		return memo{}
	}
	return *m
}

// digest is what the session remembers a part by: under the settings that it was decided by.
func (e *Engine) digest(p *gatehouse.Part, s *Settings) session.Digest {
	if m := memoOf(p); m.digest != nil {
		return *m.digest
	}
	return e.Sessions.TextDigest(s.decidedUnder, *p)
}

// known notes in parts of the request what their session has had decided on them. Nothing is looked up of what is remembered.
func (e *Engine) known(ctx context.Context, x *gatehouse.Exchange, s *Settings, parts []*gatehouse.Part) error {
	memos := make([]memo, len(parts))
	for i, p := range parts {
		p.Memo = &memos[i]
	}
	missing := parts
	if e.Memory != nil {
		missing = nil
		own, keys := ownKey(x), e.Sessions.TextKeys(s.decidedUnder, x)
		for i := range x.Request {
			p := &x.Request[i]
			m, ok := p.Memo.(*memo)
			if !ok {
				continue
			}
			m.key = own.of(keys[i])
			if m.decided, ok = e.Memory.decided.Get(m.key); !ok {
				missing = append(missing, p)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	digests := e.Sessions.TextDigests(s.decidedUnder, missing)
	found, err := e.Sessions.Store.DecidedTexts(ctx, x.Agent, x.Session, digests)
	if err != nil {
		return err
	}
	for i, p := range missing {
		m := p.Memo.(*memo) //nolint:errcheck // made above
		m.digest = &digests[i]
		if edits, ok := found[digests[i]]; ok {
			m.decided = &decision{edits: edits}
			e.remember(x, m.key, m.decided)
		}
	}
	return nil
}

// remember keeps a decision for later turns of the session. One that stopped an exchange may be another the next time.
func (e *Engine) remember(x *gatehouse.Exchange, k keep.Key, d *decision) {
	if e.Memory != nil && !d.refused() {
		e.Memory.decided.Put(keep.Owner{Party: x.Agent, Member: x.Session}, k, d, d.size())
	}
}

// sessionKey tells the texts of one session from those of others.
type sessionKey [sha256.Size]byte

func ownKey(x *gatehouse.Exchange) sessionKey {
	return sha256.Sum256(slices.Concat([]byte(x.Agent), []byte{0}, []byte(x.Session)))
}

// of is the key of one text. Keys of texts are keyed hashes, so that nobody can make two that meet.
func (s sessionKey) of(text session.Digest) (k keep.Key) {
	subtle.XORBytes(k[:], s[:], text[:])
	return k
}
