-- How far Slack has been told of the approvals, by their version, and the one process that tells it until a time.
CREATE TABLE slack_cursor (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL,
	holder  TEXT NOT NULL,
	until   INTEGER NOT NULL
);
INSERT INTO slack_cursor (one, version, holder, until) VALUES (1, 0, '', 0);

-- Where each approval is shown, and as what.
CREATE TABLE slack_messages (
	approval TEXT PRIMARY KEY,
	channel  TEXT NOT NULL,
	ts       TEXT NOT NULL,
	state    TEXT NOT NULL
);
