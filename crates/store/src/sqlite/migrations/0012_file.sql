-- Files created for clients, such as screenshots: readable with the token until they expire.
CREATE TABLE file (
    token TEXT PRIMARY KEY,
    content_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX file_expiry ON file (expires_at);

-- Base URL of this server as the client sees it, for links in documents.
ALTER TABLE job ADD COLUMN base TEXT NOT NULL DEFAULT '';
