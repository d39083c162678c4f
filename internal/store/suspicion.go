package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

const (
	selectSuspicion = `SELECT state, pieces FROM suspicions WHERE agent = ? AND session = ?`
	putSuspicion    = `INSERT INTO suspicions (agent, session, state, pieces, used) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (agent, session) DO UPDATE SET state = excluded.state, pieces = excluded.pieces, used = excluded.used`
	dropPieces = `UPDATE suspicions SET pieces = '' WHERE (agent, session) IN
		(SELECT agent, session FROM suspicions WHERE pieces <> '' AND used < ? LIMIT ?)`
)

// suspicionStatements are those that keep what the texts of sessions add up to.
type suspicionStatements struct {
	get, put, drop *sql.Stmt
}

func (p *suspicionStatements) queries() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{&p.get: selectSuspicion, &p.put: putSuspicion, &p.drop: dropPieces}
}

// Suspicion implements [session.Suspicions].
func (s *Store) Suspicion(ctx context.Context, agentID, sessionID string) (session.Suspicion, error) {
	sum, _, err := scanSuspicion(s.reads(ctx).QueryRowContext(ctx, selectSuspicion, agentID, sessionID))
	if err != nil {
		return sum, fmt.Errorf("find suspicion: %w", s.explain(err))
	}
	return sum, nil
}

// update adds texts to what is stored, within the transaction: exchanges of one session that run at once are all counted.
func (p *suspicionStatements) update(ctx context.Context, agent string, u *session.Update) error {
	if len(u.Evidence) == 0 {
		return nil
	}
	sum, known, err := scanSuspicion(p.get.QueryRowContext(ctx, agent, u.Session))
	if err != nil || !known && session.Inert(u.Evidence) {
		return err
	}
	for _, e := range u.Evidence {
		sum.Add(e)
	}
	state, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	var pieces []byte
	if len(sum.Pieces) > 0 {
		if pieces, err = json.Marshal(sum.Pieces); err != nil {
			return err
		}
	}
	_, err = p.put.ExecContext(ctx, agent, u.Session, string(state), string(pieces), stored(u.Time))
	return err
}

// sweep drops the pieces of sessions that nobody has used for long.
func (p *suspicionStatements) sweep(ctx context.Context, now time.Time) error {
	_, err := p.drop.ExecContext(ctx, stored(session.Stale(now)), sweepMost)
	return err
}

func scanSuspicion(row scanner) (sum session.Suspicion, known bool, err error) {
	var state, pieces string
	if known, err = found(row.Scan(&state, &pieces)); !known || err != nil {
		return sum, known, err
	}
	if json.Unmarshal([]byte(state), &sum) != nil || pieces != "" && json.Unmarshal([]byte(pieces), &sum.Pieces) != nil {
		return session.Suspicion{}, true, errors.New("a suspicion cannot be read")
	}
	return sum, true, nil
}
