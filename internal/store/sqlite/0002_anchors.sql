-- What injections have named in a session: keyed hashes of addresses, accounts, paths and tools, never the things themselves.
CREATE TABLE anchors (
	agent   TEXT NOT NULL REFERENCES agents (id),
	session TEXT NOT NULL,
	anchor  BLOB NOT NULL,
	time    INTEGER NOT NULL,
	PRIMARY KEY (agent, session, anchor)
) WITHOUT ROWID;
