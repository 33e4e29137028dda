-- Files made for clients, such as screenshots: readable with the token, for a day.
CREATE TABLE file (
    token TEXT PRIMARY KEY,
    content_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX file_expiry ON file (expires_at);

-- The address under which the caller knows this server, for links in documents.
ALTER TABLE job ADD COLUMN base TEXT NOT NULL DEFAULT '';
