-- Feedback of clients on results, for the operator. Kept for a year.
CREATE TABLE feedback (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    team_id BLOB NOT NULL REFERENCES team (id),
    job_id BLOB NOT NULL,
    endpoint TEXT NOT NULL,
    rating TEXT NOT NULL,
    -- JSON text.
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (team_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX feedback_age ON feedback (created_at, id);

-- `auditMetadata.username` of a call.
ALTER TABLE activity ADD COLUMN username TEXT;
