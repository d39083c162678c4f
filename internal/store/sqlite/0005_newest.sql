-- The primary key leads to the few sessions of one transcript; putting these in order by time needs no index of its own.
DROP INDEX transcripts_newest;
