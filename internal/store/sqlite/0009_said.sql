-- Conversations that are told over HTTP piece by piece: of each session what its texts amount to, also of those that are not kept
-- any more.
CREATE TABLE conversations (
	agent   TEXT NOT NULL REFERENCES agents (id),
	session TEXT NOT NULL,
	texts   INTEGER NOT NULL,
	bytes   INTEGER NOT NULL,
	turns   INTEGER NOT NULL, -- of the user
	risk    REAL NOT NULL,
	tainted INTEGER NOT NULL, -- 1: a tool's result held an injection
	lost    INTEGER NOT NULL, -- 1: texts are not kept; 2: one of them held an injection
	used    INTEGER NOT NULL,
	PRIMARY KEY (agent, session)
) WITHOUT ROWID;
CREATE INDEX conversations_idle ON conversations (used) WHERE texts > 0;

-- Their texts. text and trace are keyed hashes, of the whole and of its words; excerpt is sealed.
CREATE TABLE said (
	id      INTEGER PRIMARY KEY, -- in the order in which they were told
	agent   TEXT NOT NULL REFERENCES agents (id),
	session TEXT NOT NULL,
	text    BLOB NOT NULL,
	source  TEXT NOT NULL, -- system, user, model, tool_result
	tool    TEXT NOT NULL,
	call    TEXT NOT NULL,
	tainted INTEGER NOT NULL, -- 0 or 1
	score   REAL NOT NULL,
	size    INTEGER NOT NULL, -- bytes of excerpt and trace
	excerpt BLOB, -- NULL: none
	trace   BLOB NOT NULL
);
CREATE UNIQUE INDEX said_text ON said (agent, session, text);
