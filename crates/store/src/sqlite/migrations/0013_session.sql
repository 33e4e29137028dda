-- Browser sessions of teams. Each is charged once, when it ends; ended_at is NULL until then.
CREATE TABLE session (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    team_id BLOB NOT NULL REFERENCES team (id),
    key_id BLOB,
    -- 'interact' or 'browser', as in activity and ledger.
    kind TEXT NOT NULL,
    -- The scrape that it continues; no scrape has two sessions.
    scrape_id BLOB,
    stream_web_view INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    credits INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_of_scrape ON session (scrape_id) WHERE scrape_id IS NOT NULL;
CREATE INDEX session_of_team ON session (team_id, created_at, id);
CREATE INDEX session_alive ON session (id) WHERE ended_at IS NULL;
CREATE INDEX session_age ON session (ended_at) WHERE ended_at IS NOT NULL;

-- Cookies and storage that browsers of a team share under a name.
CREATE TABLE profile (
    team_id BLOB NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    -- JSON text, compressed; size_bytes is the length of the text.
    size_bytes INTEGER NOT NULL,
    zstd BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, name)
) STRICT;
CREATE INDEX profile_age ON profile (team_id, updated_at);
