// Package session knows who speaks and in which conversation: agents, found by the hash of their credential, and
// sessions, found by header or by transcript. It remembers which texts a session has had decided, and the edits that
// were made to them, so that replayed text gets the same edits again and nothing else.
package session

import (
	"context"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// Agent is a party that calls models.
type Agent struct {
	ID      string // mnm-<uuid4>
	Hash    string // 16 hex digits; see [CredentialHash]
	Name    string // from X-Mnemom-Agent; may be empty
	Account string // who it belongs to
	// Credential is the [CredentialHash] of the agent's credential alone; empty for one that was made by hand.
	Credential string
	// Proof is the [Resolver.Proof] of what the agent is found by; empty while that is not known whole.
	Proof    string
	Claimed  time.Time // when a key took it over; zero: never
	Deleted  time.Time // zero: not
	Created  time.Time
	LastSeen time.Time
}

// Digest is a keyed hash (HMAC-SHA-256) of a text or of a transcript. Nobody without the key can test a guess against it.
type Digest [32]byte

// Decided is one text that has been decided, and the edits that were made to it (Part is not meaningful in them).
type Decided struct {
	Text  Digest
	Edits []gatehouse.Edit
}

// Update is what one exchange adds to its session. It is committed in one transaction with the exchange's record.
type Update struct {
	Agent       Agent // stored if new, LastSeen moved if not
	Session     string
	Transcripts []Digest // transcripts that a next turn of this session may begin with
	Decided     []Decided
	Anchors     []Digest   // what injections in this exchange named; see [Resolver.AnchorDigest]
	Reminders   []Reminder // that wait for the next turn
	Reminded    []string   // ids of those that this exchange has told
	Results     []Result   // of tool calls, that this exchange is the first to tell
	Evidence    []Evidence // of an attack that comes a little at a time: what its new texts are
	Said        []Said     // what it told of its conversation, where that is told piece by piece
	Heard       bool       // it asked for what its session was told before, which is therefore kept for longer
	Time        time.Time
}

// Result is the result of a tool call: an approval that let the call through has then done its work.
type Result struct {
	CallID string // as the call has it; may be empty
	Tool   string // full name
}

// MaxAnchors is how many anchors a session keeps; the oldest go first. A page that names more is answered by its newest.
const MaxAnchors = 256

// Store keeps agents and sessions.
type Store interface {
	// AgentByHash finds an agent, a deleted one too; ok is false when there is none.
	AgentByHash(ctx context.Context, hash string) (a Agent, ok bool, err error)
	// AgentByID is the same by id.
	AgentByID(ctx context.Context, id string) (a Agent, ok bool, err error)
	// SessionByTranscript finds the newest session of the agent in which a turn ended with this transcript.
	SessionByTranscript(ctx context.Context, agentID string, transcript Digest) (id string, ok bool, err error)
	// DecidedTexts finds, of the given texts, those that the session has had decided.
	DecidedTexts(ctx context.Context, agentID, session string, texts []Digest) (map[Digest][]gatehouse.Edit, error)
	// Anchors finds, of the given anchors, those that injections have brought into the session. It may miss what an
	// exchange that still runs brings.
	Reminders
	Conversations
	Suspicions
	Anchors(ctx context.Context, agentID, session string, anchors []Digest) (map[Digest]bool, error)
}
