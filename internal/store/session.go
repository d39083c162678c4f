package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

var _ session.Store = (*Store)(nil)

// textsAtOnce bounds the parameters of one query; SQLite takes 32,766.
const textsAtOnce = 500

// EnsureAgent stores an agent and returns it as it is stored: when its hash is known, that is the agent that was stored first, id
// included.
func (s *Store) EnsureAgent(ctx context.Context, a session.Agent) (session.Agent, error) {
	db, err := s.writes(ctx)
	if err != nil {
		return session.Agent{}, err
	}
	kept, err := scanAgent(db.QueryRowContext(ctx, upsertAgent, agentRow(a)...))
	if err != nil {
		return session.Agent{}, fmt.Errorf("store agent: %w", s.explain(err))
	}
	return kept, nil
}

// AgentByHash implements [session.Store].
func (s *Store) AgentByHash(ctx context.Context, hash string) (a session.Agent, ok bool, err error) {
	outside, at := transaction(ctx) == nil, time.Now()
	if a, ok = s.recent.get(hash); ok && outside {
		return a, true, nil
	}
	ok, err = s.lookAgain(ctx, hash, func() (bool, error) {
		row := s.reads(ctx).QueryRowContext(ctx, `SELECT `+agentColumns+` FROM agents WHERE hash = ?`, hash)
		a, err = scanAgent(row)
		return found(err)
	})
	if err != nil {
		return session.Agent{}, false, fmt.Errorf("find agent: %w", s.explain(err))
	}
	if ok && outside {
		s.recent.put(hash, a, at)
	}
	return a, ok, nil
}

// SessionByTranscript implements [session.Store].
func (s *Store) SessionByTranscript(ctx context.Context, agentID string, transcript session.Digest) (id string, ok bool, err error) {
	ok, err = s.lookAgain(ctx, agentID, func() (bool, error) {
		return found(s.read.QueryRowContext(ctx, `SELECT session FROM transcripts
			WHERE agent = ? AND transcript = ? ORDER BY time DESC LIMIT 1`, agentID, transcript[:]).Scan(&id))
	})
	if err != nil {
		return "", false, fmt.Errorf("find session: %w", s.explain(err))
	}
	return id, ok, nil
}

// DecidedTexts implements [session.Store].
func (s *Store) DecidedTexts(ctx context.Context, agentID, sessionID string, texts []session.Digest) (map[session.Digest][]gatehouse.Edit, error) {
	all := map[session.Digest][]gatehouse.Edit{}
	_, err := s.lookAgain(ctx, agentID, func() (bool, error) {
		for from := 0; from < len(texts); from += textsAtOnce {
			some := texts[from:min(from+textsAtOnce, len(texts))]
			if err := s.decidedTexts(ctx, all, agentID, sessionID, some); err != nil {
				return false, err
			}
		}
		// A text may stand in the list twice, and then this looks again for nothing, which is right too.
		return len(all) == len(texts), nil
	})
	if err != nil {
		return nil, fmt.Errorf("find decided texts: %w", s.explain(err))
	}
	return all, nil
}

func (s *Store) decidedTexts(ctx context.Context, to map[session.Digest][]gatehouse.Edit, agentID, sessionID string, texts []session.Digest) error {
	args := []any{agentID, sessionID}
	for i := range texts {
		args = append(args, texts[i][:])
	}
	rows, err := s.read.QueryContext(ctx, `SELECT text, edits FROM decided
		WHERE agent = ? AND session = ? AND text IN (?`+strings.Repeat(",?", len(texts)-1)+`)`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text, raw []byte
		if err := rows.Scan(&text, &raw); err != nil {
			return err
		}
		var edits []gatehouse.Edit
		if len(text) != len(session.Digest{}) || json.Unmarshal(raw, &edits) != nil {
			return errors.New("a decided text cannot be read")
		}
		to[session.Digest(text)] = edits
	}
	return rows.Err()
}

// Anchors implements [session.Store]. It does not wait for updates that are queued: an exchange asks only after
// [Store.DecidedTexts] has waited for those of earlier turns.
func (s *Store) Anchors(ctx context.Context, agentID, sessionID string, anchors []session.Digest) (map[session.Digest]bool, error) {
	all := map[session.Digest]bool{}
	for from := 0; from < len(anchors); from += textsAtOnce {
		some := anchors[from:min(from+textsAtOnce, len(anchors))]
		if err := s.anchors(ctx, all, agentID, sessionID, some); err != nil {
			return nil, fmt.Errorf("find anchors: %w", s.explain(err))
		}
	}
	return all, nil
}

func (s *Store) anchors(ctx context.Context, to map[session.Digest]bool, agentID, sessionID string, anchors []session.Digest) error {
	args := []any{agentID, sessionID}
	for i := range anchors {
		args = append(args, anchors[i][:])
	}
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT anchor FROM anchors
		WHERE agent = ? AND session = ? AND anchor IN (?`+strings.Repeat(",?", len(anchors)-1)+`)`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var anchor []byte
		if err := rows.Scan(&anchor); err != nil {
			return err
		}
		if len(anchor) != len(session.Digest{}) {
			return errors.New("an anchor cannot be read")
		}
		to[session.Digest(anchor)] = true
	}
	return rows.Err()
}

// lookAgain looks, and if that finds less than was asked for while updates of the agent are queued, waits for them and
// looks once more: the next turn of a conversation may come before the last one is committed.
func (s *Store) lookAgain(ctx context.Context, agent string, look func() (bool, error)) (bool, error) {
	owes := s.writer != nil && transaction(ctx) == nil && s.writer.owes(agent) // before looking: afterwards, a commit may have come between
	ok, err := look()
	if ok || err != nil || !owes {
		return ok, err
	}
	if err := s.writer.settle(ctx); err != nil {
		return false, err
	}
	return look()
}

func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

const agentColumns = `id, hash, name, account, credential, proof, created, last_seen, claimed, deleted`

// scanner is a row, or the present one of several.
type scanner interface{ Scan(to ...any) error }

// scanAgent reads the agentColumns.
func scanAgent(row scanner) (a session.Agent, err error) {
	var created, seen, claimed, deleted int64
	if err := row.Scan(&a.ID, &a.Hash, &a.Name, &a.Account, &a.Credential, &a.Proof, &created, &seen, &claimed, &deleted); err != nil {
		return session.Agent{}, err
	}
	a.Created, a.LastSeen, a.Claimed, a.Deleted = moment(created), moment(seen), moment(claimed), moment(deleted)
	return a, nil
}

// moment is a time as it is stored: nanoseconds since 1970, and 0 for none.
func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func stored(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
