package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

const (
	insertSaid = `INSERT INTO said (agent, session, text, source, tool, call, tainted, score, size, excerpt, trace)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent, session, text) DO NOTHING`
	// A text that is told again may be worse than it was: it was judged by other rules.
	worsenSaid = `UPDATE said SET tainted = CASE WHEN ? > tainted THEN 1 ELSE tainted END, score = CASE WHEN ? > score THEN ? ELSE score END
		WHERE agent = ? AND session = ? AND text = ?`
	addConversation = `INSERT INTO conversations (agent, session, texts, bytes, turns, risk, tainted, lost, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (agent, session) DO UPDATE SET
			texts = conversations.texts + excluded.texts, bytes = conversations.bytes + excluded.bytes, turns = conversations.turns + excluded.turns,
			risk = CASE WHEN excluded.risk > conversations.risk THEN excluded.risk ELSE conversations.risk END,
			tainted = CASE WHEN excluded.tainted > conversations.tainted THEN excluded.tainted ELSE conversations.tainted END,
			lost = CASE WHEN excluded.lost > conversations.lost THEN excluded.lost ELSE conversations.lost END,
			used = CASE WHEN excluded.used > conversations.used THEN excluded.used ELSE conversations.used END
		RETURNING texts, bytes`
	useConversation = `UPDATE conversations SET used = ? WHERE agent = ? AND session = ? AND used < ?`
	// The first are those that stay longest.
	orderSaid = `SELECT id, tainted, size FROM said WHERE agent = ? AND session = ?
		ORDER BY CASE WHEN tainted = 1 THEN 1 WHEN source IN ('system', 'user') THEN 0 ELSE 2 END, id DESC`
	dropSaid          = `DELETE FROM said WHERE id = ?`
	idleConversations = `SELECT agent, session FROM conversations WHERE texts > 0 AND used < ? ORDER BY used LIMIT ?`
	forgetSaid        = `DELETE FROM said WHERE agent = ? AND session = ?`
	emptyConversation = `UPDATE conversations SET texts = 0, bytes = 0, lost = 1 + tainted WHERE agent = ? AND session = ?`
)

const (
	// sweepEvery and sweepMost bound how much of a transaction is spent on what nobody has used for long.
	sweepEvery, sweepMost = 10 * time.Second, 8
	// spare is the part of a full conversation that makes room at once, so that not each further text does.
	spare = 8
)

// saidStatements are those that keep what sessions were told.
type saidStatements struct {
	insert, worsen, add, use, order, drop, idle, forget, empty *sql.Stmt
}

func (p *saidStatements) queries() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{&p.insert: insertSaid, &p.worsen: worsenSaid, &p.add: addConversation, &p.use: useConversation, &p.order: orderSaid,
		&p.drop: dropSaid, &p.idle: idleConversations, &p.forget: forgetSaid, &p.empty: emptyConversation}
}

// growth is what an update adds to a conversation. Lost is 1 when a text is not kept, 2 when one that held an injection is not.
type growth struct {
	texts, bytes, turns, lost int
	tainted                   bool
	risk                      float64
}

// update writes what an exchange has told, each text once, and keeps the conversation within its bounds.
func (p *saidStatements) update(ctx context.Context, agent string, u *session.Update) (err error) {
	if len(u.Said) == 0 {
		if !u.Heard {
			return nil
		}
		_, err = p.use.ExecContext(ctx, stored(u.Time), agent, u.Session, stored(u.Time))
		return err
	}
	g, turn := growth{}, 0
	for _, s := range u.Said {
		g.tainted = g.tainted || s.Tainted && s.Source == "tool_result"
		g.risk = max(g.risk, s.Score)
		// Under the id of the agent that lost (see rename) nothing could be found in a trace.
		fresh := true
		if renamed := agent != u.Agent.ID; renamed || s.Trace == nil {
			g.lost = max(g.lost, lost(s.Tainted || renamed))
		} else if fresh, err = p.text(ctx, agent, u.Session, s); err != nil {
			return err
		} else if fresh {
			g.texts, g.bytes = g.texts+1, g.bytes+sizeOf(s)
		}
		if fresh && s.Turn > turn {
			g.turns, turn = g.turns+1, s.Turn
		}
	}
	texts, bytes, err := p.grow(ctx, agent, u, g)
	if err != nil || texts <= session.MaxSaid && bytes <= session.MaxSaidBytes {
		return err
	}
	return p.shrink(ctx, agent, u)
}

func lost(tainted bool) int {
	if tainted {
		return 2
	}
	return 1
}

func sizeOf(s session.Said) int { return len(s.Trace) + len(s.Excerpt) }

// text writes one text; of one that is there already, only that it is worse than it was.
func (p *saidStatements) text(ctx context.Context, agent, sessionID string, s session.Said) (fresh bool, err error) {
	var excerpt any
	if s.Excerpt != nil {
		excerpt = s.Excerpt
	}
	res, err := p.insert.ExecContext(ctx, agent, sessionID, s.Text[:], s.Source, s.Tool, s.CallID, s.Tainted, s.Score, sizeOf(s), excerpt, s.Trace)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if err != nil || n > 0 {
		return n > 0, err
	}
	if s.Tainted || s.Score > 0 {
		_, err = p.worsen.ExecContext(ctx, s.Tainted, s.Score, s.Score, agent, sessionID, s.Text[:])
	}
	return false, err
}

func (p *saidStatements) grow(ctx context.Context, agent string, u *session.Update, g growth) (texts, bytes int, err error) {
	err = p.add.QueryRowContext(ctx, agent, u.Session, g.texts, g.bytes, g.turns, g.risk, g.tainted, g.lost, stored(u.Time)).Scan(&texts, &bytes)
	return texts, bytes, err
}

// shrink drops what a conversation has no room for: of tools and the model the oldest, then tainted results, and what the user and the
// operator said last of all.
func (p *saidStatements) shrink(ctx context.Context, agent string, u *session.Update) error {
	g, ids, err := p.excess(ctx, agent, u.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := p.drop.ExecContext(ctx, id); err != nil {
			return err
		}
	}
	_, _, err = p.grow(ctx, agent, u, g)
	return err
}

// excess are the texts that have to go.
func (p *saidStatements) excess(ctx context.Context, agent, sessionID string) (g growth, ids []int64, err error) {
	rows, err := p.order.QueryContext(ctx, agent, sessionID)
	if err != nil {
		return g, nil, err
	}
	defer rows.Close()
	texts, room := session.MaxSaid-session.MaxSaid/spare, session.MaxSaidBytes-session.MaxSaidBytes/spare
	for rows.Next() {
		var id int64
		var size int
		var tainted bool
		if err := rows.Scan(&id, &tainted, &size); err != nil {
			return g, nil, err
		}
		if texts > 0 && size <= room {
			texts, room = texts-1, room-size
			continue
		}
		ids = append(ids, id)
		g.texts, g.bytes, g.lost = g.texts-1, g.bytes-size, max(g.lost, lost(tainted))
	}
	return g, ids, rows.Err()
}

// sweep drops the texts of conversations that nobody has used for long. That they were there stays known.
func (p *saidStatements) sweep(ctx context.Context, now time.Time) error {
	idle, err := p.idling(ctx, now.Add(-session.SaidAge))
	if err != nil {
		return err
	}
	for _, of := range idle {
		for _, s := range [...]*sql.Stmt{p.forget, p.empty} {
			if _, err := s.ExecContext(ctx, of[0], of[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// idling are agent and session of some that were not used since.
func (p *saidStatements) idling(ctx context.Context, since time.Time) (list [][2]string, err error) {
	rows, err := p.idle.QueryContext(ctx, stored(since), sweepMost)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var of [2]string
		if err := rows.Scan(&of[0], &of[1]); err != nil {
			return nil, err
		}
		list = append(list, of)
	}
	return list, rows.Err()
}
