-- Flagged calls, and what humans said of them. An agent need not be stored: its first exchange may be the one that asks.
CREATE TABLE agent_pending_approvals (
	id            TEXT PRIMARY KEY,
	version       INTEGER NOT NULL UNIQUE, -- of the last change, see approval_changes
	made          INTEGER NOT NULL UNIQUE, -- the version with which it was made: the order in which they came
	state         TEXT NOT NULL,           -- pending, approved, denied, expired, consumed, revoked
	account       TEXT NOT NULL,
	agent         TEXT NOT NULL,
	agent_name    TEXT NOT NULL,
	credential    TEXT NOT NULL, -- hash of the agent's, 16 hex digits; may be empty
	session       TEXT NOT NULL,
	surface       TEXT NOT NULL,
	request       TEXT NOT NULL, -- id of the exchange that asked first
	tool          TEXT NOT NULL,
	call_id       TEXT NOT NULL,
	digest        BLOB NOT NULL, -- SHA-256 of the canonical arguments
	rule          TEXT NOT NULL,
	reason        TEXT NOT NULL,
	risk          REAL NOT NULL,
	tainted       INTEGER NOT NULL, -- 0 or 1
	sealed        BLOB,             -- the arguments and the evidence, encrypted, for as long as they are needed
	created       INTEGER NOT NULL,
	expires       INTEGER NOT NULL,
	decided       INTEGER NOT NULL, -- 0: not
	decided_by    TEXT NOT NULL,
	decided_from  TEXT NOT NULL,
	note          TEXT NOT NULL,
	consumed      INTEGER NOT NULL, -- 0: not
	consumed_by   TEXT NOT NULL,    -- id of the exchange that it let through
	consumed_call TEXT NOT NULL,
	resulted      INTEGER NOT NULL, -- when the result was seen; 0: not
	again         TEXT NOT NULL     -- id of the approval that was made of it when it was approved again
);
CREATE INDEX agent_pending_approvals_call ON agent_pending_approvals (agent, session, tool, digest, made);
CREATE INDEX agent_pending_approvals_due ON agent_pending_approvals (expires) WHERE state IN ('pending', 'approved');
CREATE INDEX agent_pending_approvals_account ON agent_pending_approvals (account, made);
CREATE INDEX agent_pending_approvals_open ON agent_pending_approvals (account, made) WHERE state IN ('pending', 'approved');
CREATE INDEX agent_pending_approvals_agent ON agent_pending_approvals (agent, made);
CREATE INDEX agent_pending_approvals_pending ON agent_pending_approvals (agent, expires) WHERE state = 'pending';
CREATE INDEX agent_pending_approvals_undelivered ON agent_pending_approvals (agent, session, consumed)
	WHERE state = 'consumed' AND resulted = 0 AND again = '';

-- Counts changes of approvals, so that every process notices them.
CREATE TABLE approval_changes (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	count INTEGER NOT NULL
);
INSERT INTO approval_changes (one, count) VALUES (1, 0);

-- What lets the calls of a tool through without asking. scope is a condition of the policy's language.
CREATE TABLE approval_grants (
	id           TEXT PRIMARY KEY,
	account      TEXT NOT NULL,
	agent        TEXT NOT NULL,
	tool         TEXT NOT NULL,
	scope        TEXT NOT NULL,
	approval     TEXT NOT NULL, -- that it was made with; may be empty
	created      INTEGER NOT NULL,
	expires      INTEGER NOT NULL,
	granted_by   TEXT NOT NULL,
	granted_from TEXT NOT NULL,
	note         TEXT NOT NULL,
	revoked      INTEGER NOT NULL, -- 0: not
	used         INTEGER NOT NULL,
	last_used    INTEGER NOT NULL  -- 0: never
);
CREATE INDEX approval_grants_tool ON approval_grants (agent, tool, expires) WHERE revoked = 0;
CREATE INDEX approval_grants_account ON approval_grants (account, created, id);
