package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// An agent is made once. When its hash is known the id that is stored wins; that it was seen is noted in either case.
const upsertAgent = `INSERT INTO agents (id, hash, name, created, last_seen, account, credential, proof) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (hash) DO UPDATE SET last_seen = CASE
		WHEN excluded.last_seen > agents.last_seen THEN excluded.last_seen ELSE agents.last_seen END,
		credential = CASE WHEN agents.credential = '' THEN excluded.credential ELSE agents.credential END,
		proof = CASE WHEN agents.proof = '' THEN excluded.proof ELSE agents.proof END
	RETURNING ` + agentColumns

// seeAgent notes that an agent was seen, whatever its hash has become since.
const seeAgent = `UPDATE agents SET last_seen = CASE WHEN ? > last_seen THEN ? ELSE last_seen END,
	credential = CASE WHEN credential = '' THEN ? ELSE credential END,
	proof = CASE WHEN proof = '' AND hash = ? THEN ? ELSE proof END WHERE id = ? RETURNING ` + agentColumns

// keepAnchors drops the oldest anchors of a session beyond [session.MaxAnchors].
const keepAnchors = `DELETE FROM anchors WHERE agent = ? AND session = ? AND anchor NOT IN
	(SELECT anchor FROM anchors WHERE agent = ? AND session = ? ORDER BY time DESC, anchor LIMIT ?)`

// statements are those of every transaction of the writer, prepared once.
type statements struct {
	getHead, setHead, record, agent, seeAgent, moveKeys, transcript, decided, anchor, keepAnchors, reminder, told, result, countResult *sql.Stmt

	said      saidStatements
	suspicion suspicionStatements
	seen      map[string]sighting // agents of this transaction, by hash
	swept     *time.Time          // when it was last looked for what nobody has used for long
}

// sighting is an agent as it is stored, and when a later item of the same transaction has seen it; zero when none has.
type sighting struct {
	session.Agent
	again time.Time
}

func prepare(ctx context.Context, db *sql.DB) (p statements, err error) {
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&p.getHead, selectHead},
		{&p.setHead, `UPDATE head SET seq = ?, hash = ?, count = ? WHERE one = 1`},
		{&p.record, `INSERT INTO records (seq, id, record, prev, hash, leaf, agent, account, session, surface, type, time, notable)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&p.agent, upsertAgent},
		{&p.seeAgent, seeAgent},
		{&p.moveKeys, `UPDATE content_keys SET owner = ? WHERE agent = ?`},
		{&p.transcript, `INSERT INTO transcripts (agent, transcript, session, time) VALUES (?, ?, ?, ?)
			ON CONFLICT (agent, transcript, session) DO UPDATE SET time = excluded.time`},
		{&p.decided, `INSERT INTO decided (agent, session, text, edits, time) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (agent, session, text) DO UPDATE SET edits = excluded.edits, time = excluded.time`},
		{&p.anchor, `INSERT INTO anchors (agent, session, anchor, time) VALUES (?, ?, ?, ?)
			ON CONFLICT (agent, session, anchor) DO UPDATE SET time = excluded.time`},
		{&p.keepAnchors, keepAnchors},
		{&p.reminder, `INSERT INTO reminders (id, agent, session, source, text, request, created) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&p.told, `UPDATE reminders SET told = ? WHERE id = ?`},
		{&p.result, resultApproval},
		{&p.countResult, countApprovalVersion},
	} {
		if *s.to, err = db.PrepareContext(ctx, s.query); err != nil { //nolint:sqlclosecheck // close closes them all
			p.close()
			return statements{}, err
		}
	}
	p.swept = new(time.Time)
	more := p.said.queries()
	maps.Copy(more, p.suspicion.queries())
	for to, query := range more {
		if *to, err = db.PrepareContext(ctx, query); err != nil { //nolint:sqlclosecheck // as above
			p.close()
			return statements{}, err
		}
	}
	return p, nil
}

func (p *statements) all() []**sql.Stmt {
	return []**sql.Stmt{&p.getHead, &p.setHead, &p.record, &p.agent, &p.seeAgent, &p.moveKeys, &p.transcript, &p.decided, &p.anchor, &p.keepAnchors, &p.reminder, &p.told,
		&p.result, &p.countResult, &p.said.insert, &p.said.worsen, &p.said.add, &p.said.use, &p.said.order, &p.said.drop, &p.said.idle, &p.said.forget, &p.said.empty,
		&p.suspicion.get, &p.suspicion.put, &p.suspicion.drop}
}

func (p *statements) close() {
	for _, s := range p.all() {
		if *s != nil {
			(*s).Close()
		}
	}
}

// in gives the statements to a transaction, which closes them.
func (p statements) in(ctx context.Context, tx *sql.Tx) statements {
	for _, s := range p.all() {
		*s = tx.StmtContext(ctx, *s)
	}
	p.seen = map[string]sighting{}
	return p
}

func (p *statements) readHead(ctx context.Context) (audit.Head, error) {
	return scanHead(p.getHead.QueryRowContext(ctx))
}

func (p *statements) writeHead(ctx context.Context, h audit.Head) error {
	_, err := p.setHead.ExecContext(ctx, h.Seq, h.Hash[:], h.Count)
	return err
}

// item writes a record as the next of the chain, and its update.
func (p *statements) item(ctx context.Context, head audit.Head, it item) (audit.Entry, error) {
	if it.update != nil {
		var err error
		if it, err = p.update(ctx, it); err != nil {
			return audit.Entry{}, err
		}
	}
	e, r := audit.Seal(head.Seq+1, head.Hash, it.raw), it.record
	_, err := p.record.ExecContext(ctx, e.Seq, r.ID, string(e.Record), e.Prev[:], e.Hash[:], e.Leaf[:],
		r.Subject(), r.Account, r.Session, r.Surface, r.Kind(), r.Time.UnixNano(), r.Notable())
	return e, err
}

// update writes what an exchange adds to its session. The item that it returns bears the agent's id as it is stored.
func (p *statements) update(ctx context.Context, it item) (item, error) {
	u := it.update
	kept, err := p.sight(ctx, u.Agent)
	if err != nil {
		return it, err
	}
	if kept.ID != u.Agent.ID {
		if it, err = p.rename(ctx, it, kept.ID); err != nil {
			return it, err
		}
	}
	for _, t := range u.Transcripts {
		if _, err := p.transcript.ExecContext(ctx, kept.ID, t[:], u.Session, u.Time.UnixNano()); err != nil {
			return it, err
		}
	}
	for _, d := range u.Decided {
		edits, err := json.Marshal(d.Edits)
		if err != nil {
			return it, err
		}
		if _, err := p.decided.ExecContext(ctx, kept.ID, u.Session, d.Text[:], string(edits), u.Time.UnixNano()); err != nil {
			return it, err
		}
	}
	if err := p.reminders(ctx, kept.ID, u); err != nil {
		return it, err
	}
	if err := p.results(ctx, kept.ID, u); err != nil {
		return it, err
	}
	if err := p.said.update(ctx, kept.ID, u); err != nil {
		return it, err
	}
	if err := p.suspicion.update(ctx, kept.ID, u); err != nil {
		return it, err
	}
	return it, p.anchors(ctx, kept.ID, u)
}

// reminders writes what waits for the next turn, and what waits no longer.
func (p *statements) reminders(ctx context.Context, agent string, u *session.Update) error {
	for _, r := range u.Reminders {
		if _, err := p.reminder.ExecContext(ctx, r.ID, agent, u.Session, r.Source, r.Text, r.Request, stored(r.Created)); err != nil {
			return err
		}
	}
	for _, id := range u.Reminded {
		if _, err := p.told.ExecContext(ctx, stored(u.Time), id); err != nil {
			return err
		}
	}
	return nil
}

// results notes the results of calls on the approvals that let them through. Most calls had none.
func (p *statements) results(ctx context.Context, agent string, u *session.Update) error {
	for _, r := range u.Results {
		res, err := p.result.ExecContext(ctx, stored(u.Time), agent, u.Session, r.CallID, r.CallID, r.Tool, r.CallID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := p.countResult.ExecContext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// anchors writes what injections have named, and keeps the session's list within its bound.
func (p *statements) anchors(ctx context.Context, agent string, u *session.Update) error {
	if len(u.Anchors) == 0 {
		return nil
	}
	for _, a := range u.Anchors {
		if _, err := p.anchor.ExecContext(ctx, agent, u.Session, a[:], u.Time.UnixNano()); err != nil {
			return err
		}
	}
	_, err := p.keepAnchors.ExecContext(ctx, agent, u.Session, agent, u.Session, session.MaxAnchors)
	return err
}

// sight stores an agent, or that it was seen, and returns it as it is stored. The first item of a transaction that has it
// does that, and finish the rest: most items are of few agents.
func (p *statements) sight(ctx context.Context, a session.Agent) (session.Agent, error) {
	s, known := p.seen[a.Hash]
	if !known {
		var err error
		seen := stored(a.LastSeen)
		s.Agent, err = scanAgent(p.seeAgent.QueryRowContext(ctx, seen, seen, a.Credential, a.Hash, a.Proof, a.ID))
		if errors.Is(err, sql.ErrNoRows) {
			s.Agent, err = scanAgent(p.agent.QueryRowContext(ctx, agentRow(a)...))
		}
		if err != nil {
			return session.Agent{}, err
		}
	} else if a.LastSeen.After(s.LastSeen) && a.LastSeen.After(s.again) {
		s.again = a.LastSeen
	}
	p.seen[a.Hash] = s
	return s.Agent, nil
}

// finish writes what was put off to the end of the transaction.
func (p *statements) finish(ctx context.Context, head audit.Head) error {
	for _, s := range p.seen {
		if s.again.IsZero() {
			continue
		}
		s.LastSeen = s.again
		if _, err := p.agent.ExecContext(ctx, agentRow(s.Agent)...); err != nil {
			return err
		}
	}
	if err := p.sweep(ctx, time.Now()); err != nil {
		return err
	}
	return p.writeHead(ctx, head)
}

// sweep drops what nobody has used for long, now and then.
func (p *statements) sweep(ctx context.Context, now time.Time) error {
	if now.Sub(*p.swept) < sweepEvery {
		return nil
	}
	if err := p.said.sweep(ctx, now); err != nil {
		return err
	}
	if err := p.suspicion.sweep(ctx, now); err != nil {
		return err
	}
	*p.swept = now
	return nil
}

// rename gives a record to the agent that was stored first. Its texts were hashed under the key of the id that lost, which
// from now on belongs to the agent.
func (p *statements) rename(ctx context.Context, it item, id string) (item, error) {
	if _, err := p.moveKeys.ExecContext(ctx, id, it.update.Agent.ID); err != nil {
		return it, err
	}
	if it.record.Agent != it.update.Agent.ID {
		return it, nil
	}
	it.record.Agent = id
	raw, err := it.record.Encode()
	it.raw = raw
	return it, err
}

func agentRow(a session.Agent) []any {
	return []any{a.ID, a.Hash, a.Name, stored(a.Created), stored(a.LastSeen), a.Account, a.Credential, a.Proof}
}
