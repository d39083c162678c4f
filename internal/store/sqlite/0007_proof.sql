-- A keyed hash of all 256 bits of what an agent was found by, of which hash has 64: whoever claims an agent shows that they know
-- more than any list does.
ALTER TABLE agents ADD COLUMN proof TEXT NOT NULL DEFAULT '';
