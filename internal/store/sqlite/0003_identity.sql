-- Who may do what. An account owns agents, keys and webhooks; 'default' has the agents of callers without a key.
-- credential is the hash of an agent's credential without its name, 16 hex digits: what containment follows.
ALTER TABLE agents ADD COLUMN account TEXT NOT NULL DEFAULT 'default';
ALTER TABLE agents ADD COLUMN credential TEXT NOT NULL DEFAULT '';
ALTER TABLE agents ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0; -- 0: by nobody
ALTER TABLE agents ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0; -- 0: not
CREATE INDEX agents_account ON agents (account, created, id);

-- hash is SHA-256 of the key, which is kept nowhere. scopes and agents are JSON lists.
CREATE TABLE keys (
	id      TEXT PRIMARY KEY,
	account TEXT NOT NULL,
	name    TEXT NOT NULL,
	hash    BLOB NOT NULL UNIQUE,
	scopes  TEXT NOT NULL,
	agents  TEXT NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL, -- 0: never
	revoked INTEGER NOT NULL  -- 0: not
);
CREATE INDEX keys_account ON keys (account, created, id);

-- Agents that may not act. credential is empty where the agent was not found by its credential.
CREATE TABLE containments (
	agent      TEXT PRIMARY KEY,
	credential TEXT NOT NULL,
	state      TEXT NOT NULL, -- paused, killed
	reason     TEXT NOT NULL,
	actor      TEXT NOT NULL,
	time       INTEGER NOT NULL
);

-- Counts changes of keys and containments, so that every process notices them.
CREATE TABLE identity_changes (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	count INTEGER NOT NULL
);
INSERT INTO identity_changes (one, count) VALUES (1, 0);

-- Answers to mutations, so that a repeated one is not made again. answer is encrypted under a key that only the caller has.
CREATE TABLE answers (
	caller  TEXT NOT NULL,
	key     BLOB NOT NULL, -- SHA-256 of the Idempotency-Key
	request BLOB NOT NULL, -- SHA-256 of method, path and body
	answer  BLOB NOT NULL,
	time    INTEGER NOT NULL,
	PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX answers_time ON answers (time);

-- What records are found by. The record is what the hashes are over; these columns repeat some of it.
ALTER TABLE records ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN surface TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN type TEXT NOT NULL DEFAULT 'exchange'; -- or the event's type
ALTER TABLE records ADD COLUMN time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN notable INTEGER NOT NULL DEFAULT 0; -- 1: it has advisories
UPDATE records SET agent = coalesce(json_extract(record, '$.agent'), ''), session = coalesce(json_extract(record, '$.session'), ''),
	surface = coalesce(json_extract(record, '$.surface'), ''), time = unixepoch(json_extract(record, '$.time')) * 1000000000;
UPDATE records SET notable = 1 WHERE record LIKE '%"advisories":[{%';
CREATE INDEX records_agent ON records (agent, seq);
CREATE INDEX records_account ON records (account, seq) WHERE agent = ''; -- of the others the agent says whose they are
CREATE INDEX records_notable ON records (agent, seq) WHERE notable = 1;
