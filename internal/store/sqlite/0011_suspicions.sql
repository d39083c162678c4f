-- What the texts of a session add up to. state is numbers and keyed hashes; the texts in pieces are sealed, and dropped when the session
-- has not been used for long.
CREATE TABLE suspicions (
	agent   TEXT NOT NULL REFERENCES agents (id),
	session TEXT NOT NULL,
	state   TEXT NOT NULL,
	pieces  TEXT NOT NULL, -- empty: none
	used    INTEGER NOT NULL,
	PRIMARY KEY (agent, session)
) WITHOUT ROWID;
CREATE INDEX suspicions_idle ON suspicions (used) WHERE pieces <> '';
