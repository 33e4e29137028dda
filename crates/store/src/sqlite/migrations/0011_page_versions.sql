-- The last version of each page that `changeTracking` looked at, per team, URL and tag ('' without one). Outlives its job.
CREATE TABLE page_version (
    team_id BLOB NOT NULL REFERENCES team (id),
    url_key BLOB NOT NULL CHECK (length(url_key) = 16),
    tag TEXT NOT NULL,
    at INTEGER NOT NULL,
    status_code INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    zstd BLOB NOT NULL,
    PRIMARY KEY (team_id, url_key, tag)
) STRICT;
