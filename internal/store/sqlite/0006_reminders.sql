-- Warnings about an answer that wait for the next turn of its session. Their texts are the gateway's own.
CREATE TABLE reminders (
	id       TEXT PRIMARY KEY,
	agent    TEXT NOT NULL REFERENCES agents (id),
	session  TEXT NOT NULL,
	source   TEXT NOT NULL,
	text     TEXT NOT NULL,
	request  TEXT NOT NULL, -- id of the exchange that it is about
	created  INTEGER NOT NULL,
	told     INTEGER NOT NULL DEFAULT 0 -- when; 0: not yet
);
CREATE INDEX reminders_waiting ON reminders (agent, session, created) WHERE told = 0;
