-- Files that clients send for a later request. The token in the upload URL allows one transfer; the id is the
-- reference that the team passes on, once.
CREATE TABLE upload (
    id BLOB PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    team_id BLOB NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT,
    -- NULL until the file has arrived.
    bytes BLOB,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX upload_of_team ON upload (team_id);
CREATE INDEX upload_expiry ON upload (expires_at);

-- What a browser session downloaded and was given; deleted with the session.
CREATE TABLE session_file (
    session_id BLOB NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    no INTEGER NOT NULL,
    is_upload INTEGER NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    url TEXT,
    size_bytes INTEGER NOT NULL,
    -- Token of the file with the content; NULL if there is none.
    token TEXT,
    -- Why there is no content.
    error TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, no)
) STRICT, WITHOUT ROWID;
