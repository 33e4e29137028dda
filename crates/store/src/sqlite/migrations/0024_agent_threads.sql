-- Threads of agents. The id of a thread is that of its first run, whose number is 1.
ALTER TABLE job ADD COLUMN thread_id BLOB;
ALTER TABLE job ADD COLUMN thread_turn INTEGER;
-- What a run found before its end, as JSON text.
ALTER TABLE job ADD COLUMN partial_result TEXT;

CREATE UNIQUE INDEX job_of_thread ON job (thread_id, thread_turn) WHERE thread_id IS NOT NULL;

-- Traces of agents.
CREATE TABLE run_event (
    job_id BLOB NOT NULL REFERENCES job (id),
    no INTEGER NOT NULL,
    -- JSON text.
    event TEXT NOT NULL,
    -- The content that the event refers to, compressed, and its length.
    size_bytes INTEGER,
    zstd BLOB,
    PRIMARY KEY (job_id, no)
) STRICT, WITHOUT ROWID;
