package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// An agent is made once. When its hash is known the id that is stored wins; that it was seen is noted in either case.
const upsertAgent = `INSERT INTO agents (id, hash, name, created, last_seen) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT (hash) DO UPDATE SET last_seen = CASE
		WHEN excluded.last_seen > agents.last_seen THEN excluded.last_seen ELSE agents.last_seen END
	RETURNING id, name, created, last_seen`

// statements are those of every transaction of the writer, prepared once.
type statements struct {
	getHead, setHead, record, agent, moveKeys, transcript, decided *sql.Stmt
}

func prepare(ctx context.Context, db *sql.DB) (p statements, err error) {
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&p.getHead, selectHead},
		{&p.setHead, `UPDATE head SET seq = ?, hash = ?, count = ? WHERE one = 1`},
		{&p.record, `INSERT INTO records (seq, id, record, prev, hash, leaf) VALUES (?, ?, ?, ?, ?, ?)`},
		{&p.agent, upsertAgent},
		{&p.moveKeys, `UPDATE content_keys SET owner = ? WHERE agent = ?`},
		{&p.transcript, `INSERT INTO transcripts (agent, transcript, session, time) VALUES (?, ?, ?, ?)
			ON CONFLICT (agent, transcript, session) DO UPDATE SET time = excluded.time`},
		{&p.decided, `INSERT INTO decided (agent, session, text, edits, time) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (agent, session, text) DO UPDATE SET edits = excluded.edits, time = excluded.time`},
	} {
		if *s.to, err = db.PrepareContext(ctx, s.query); err != nil { //nolint:sqlclosecheck // close closes them all
			p.close()
			return statements{}, err
		}
	}
	return p, nil
}

func (p *statements) all() []**sql.Stmt {
	return []**sql.Stmt{&p.getHead, &p.setHead, &p.record, &p.agent, &p.moveKeys, &p.transcript, &p.decided}
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
	e := audit.Seal(head.Seq+1, head.Hash, it.raw)
	_, err := p.record.ExecContext(ctx, e.Seq, it.record.ID, string(e.Record), e.Prev[:], e.Hash[:], e.Leaf[:])
	return e, err
}

// update writes what an exchange adds to its session. The item that it returns bears the agent's id as it is stored.
func (p *statements) update(ctx context.Context, it item) (item, error) {
	u := it.update
	stored, err := scanAgent(p.agent.QueryRowContext(ctx, agentRow(u.Agent)...), u.Agent.Hash)
	if err != nil {
		return it, err
	}
	if stored.ID != u.Agent.ID {
		if it, err = p.rename(ctx, it, stored.ID); err != nil {
			return it, err
		}
	}
	for _, t := range u.Transcripts {
		if _, err := p.transcript.ExecContext(ctx, stored.ID, t[:], u.Session, u.Time.UnixNano()); err != nil {
			return it, err
		}
	}
	for _, d := range u.Decided {
		edits, err := json.Marshal(d.Edits)
		if err != nil {
			return it, err
		}
		if _, err := p.decided.ExecContext(ctx, stored.ID, u.Session, d.Text[:], string(edits), u.Time.UnixNano()); err != nil {
			return it, err
		}
	}
	return it, nil
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
	return []any{a.ID, a.Hash, a.Name, a.Created.UnixNano(), a.LastSeen.UnixNano()}
}
