-- Where events are sent. secret is sealed: it cannot be read with the database alone. types is a JSON list. after_seq is the
-- sequence number of the last record when the endpoint was made.
CREATE TABLE webhooks (
	id          TEXT PRIMARY KEY,
	account     TEXT NOT NULL,
	url         TEXT NOT NULL,
	description TEXT NOT NULL,
	types       TEXT NOT NULL,
	secret      BLOB NOT NULL,
	after_seq   INTEGER NOT NULL,
	disabled    INTEGER NOT NULL, -- 0 or 1
	why         TEXT NOT NULL,    -- requested, gone, failing
	failures    INTEGER NOT NULL, -- in a row
	created     INTEGER NOT NULL,
	updated     INTEGER NOT NULL
);
CREATE INDEX webhooks_account ON webhooks (account, created, id);

-- How far the chain was told. What is there already is no news.
CREATE TABLE webhook_cursor (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	seq INTEGER NOT NULL
);
INSERT INTO webhook_cursor (one, seq) SELECT 1, seq FROM head WHERE one = 1;

-- target is the one endpoint that an event is for; empty: all that ask for its type.
CREATE TABLE webhook_events (
	id      TEXT PRIMARY KEY,
	account TEXT NOT NULL,
	type    TEXT NOT NULL,
	target  TEXT NOT NULL,
	data    TEXT NOT NULL, -- JSON, without content
	created INTEGER NOT NULL -- time of the record
);
CREATE INDEX webhook_events_created ON webhook_events (created);

-- Until leased, the delivery is holder's.
CREATE TABLE webhook_deliveries (
	id       TEXT PRIMARY KEY,
	webhook  TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	event    TEXT NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
	state    TEXT NOT NULL, -- pending, delivered, dead
	attempts INTEGER NOT NULL,
	next     INTEGER NOT NULL, -- 0 unless pending
	status   INTEGER NOT NULL, -- of the last attempt; 0: none
	error    TEXT NOT NULL,
	holder   TEXT NOT NULL,
	leased   INTEGER NOT NULL, -- 0: to nobody
	created  INTEGER NOT NULL,
	updated  INTEGER NOT NULL
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_holder ON webhook_deliveries (holder) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook, created, id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event);
