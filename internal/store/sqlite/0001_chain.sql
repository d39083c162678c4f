-- The chain. record is what the hashes are computed over; id is only an index into it.
CREATE TABLE records (
	seq    INTEGER PRIMARY KEY,
	id     TEXT NOT NULL UNIQUE,
	record TEXT NOT NULL,
	prev   BLOB NOT NULL,
	hash   BLOB NOT NULL,
	leaf   BLOB NOT NULL
);

CREATE TABLE head (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	seq   INTEGER NOT NULL,
	hash  BLOB NOT NULL,
	count INTEGER NOT NULL
);
INSERT INTO head (one, seq, hash, count) VALUES (1, 0, zeroblob(32), 0);

-- Times are nanoseconds since 1970, UTC.
CREATE TABLE agents (
	id        TEXT PRIMARY KEY,
	hash      TEXT NOT NULL UNIQUE,
	name      TEXT NOT NULL,
	created   INTEGER NOT NULL,
	last_seen INTEGER NOT NULL
);

CREATE TABLE transcripts (
	agent      TEXT NOT NULL REFERENCES agents (id),
	transcript BLOB NOT NULL,
	session    TEXT NOT NULL,
	time       INTEGER NOT NULL,
	PRIMARY KEY (agent, transcript, session)
) WITHOUT ROWID;
CREATE INDEX transcripts_newest ON transcripts (agent, transcript, time);

CREATE TABLE decided (
	agent   TEXT NOT NULL REFERENCES agents (id),
	session TEXT NOT NULL,
	text    BLOB NOT NULL,
	edits   TEXT NOT NULL, -- a JSON list
	time    INTEGER NOT NULL,
	PRIMARY KEY (agent, session, text)
) WITHOUT ROWID;

CREATE TABLE secrets (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
);

-- owner is set where two exchanges made the same agent at once: the key was made under the id that lost, and is erased with
-- the agent that won.
CREATE TABLE content_keys (
	agent TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	value BLOB NOT NULL
);
CREATE INDEX content_keys_owner ON content_keys (owner);
