package session

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"time"
)

const (
	// MaxSaid is how many texts are kept of one conversation.
	MaxSaid = 2000
	// MaxSaidBytes is how many bytes their traces and excerpts may have together.
	MaxSaidBytes = 2 << 20
	// SaidAge is how long texts are kept after their session was last used.
	SaidAge = 24 * time.Hour
)

// Said is one text of a conversation that is told piece by piece. The text itself is not kept.
type Said struct {
	ID      int64 // the store's own; rises in the order in which texts were told
	Text    Digest
	Source  string // system, user, model, tool_result
	Tool    string // of a tool's result: the tool's full name; may be empty
	CallID  string // of the call that it answers; may be empty
	Tainted bool   // it held an injection
	Score   float64
	Turn    int    // of the user's text: which turn of its exchange, counted from 1
	Trace   []byte // hashes of its words under [Resolver.TraceKey]; nil: the text is too long to be kept
	Excerpt []byte // of a tainted result, sealed; nil: none
}

// Conversation is what a session was told.
type Conversation struct {
	Known       bool   // something was told
	Said        []Said // those that are kept, oldest first, without excerpts
	Turns       int    // of the user
	Risk        float64
	Tainted     bool // a tool's result held an injection
	Lost        bool // texts are not kept any more, or never were
	LostTainted bool // one of them held an injection
}

// Conversations keeps them.
type Conversations interface {
	// Conversation is all that a session was told up to now, by exchanges that have ended.
	Conversation(ctx context.Context, agentID, session string) (Conversation, error)
	// Said is one text of it, with its excerpt; ok is false when it is not kept any more.
	Said(ctx context.Context, agentID, session string, id int64) (s Said, ok bool, err error)
}

// Box encrypts what is kept of tainted results, for an owner; *seal.Box is one.
type Box interface {
	Seal(secret []byte, owner string) []byte
	Open(sealed []byte, owner string) ([]byte, error)
	// Derive is a secret of 32 bytes that follows from the key of the box and a label.
	Derive(label string) [32]byte
}

// TraceKey is what the words of a session's texts are hashed under: HKDF-SHA-256 (RFC 5869) of the gateway's key, salted with
// a secret of the box, whose key is not in the store: who has the database alone cannot try words. Neither ids of agents nor
// of sessions hold a bar.
func (r *Resolver) TraceKey(agentID, sessionID string) ([16]byte, error) {
	var salt []byte
	if r.Box != nil {
		secret := r.Box.Derive("said")
		salt = secret[:]
	}
	key, err := hkdf.Key(sha256.New, r.Key, salt, "said|"+agentID+"|"+sessionID, 16)
	if err != nil {
		return [16]byte{}, fmt.Errorf("trace key: %w", err)
	}
	return [16]byte(key), nil
}
