-- The first schema. Times are milliseconds since 1970 (UTC), ids are the 16 bytes of a UUID,
-- url_key the 16 bytes of UrlKey. Everything about one job is decided in one transaction.

PRAGMA application_id = 1213355597;

CREATE TABLE team (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Only the SHA-256 of a key is stored, never the key.
CREATE TABLE api_key (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    team_id BLOB NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_of_team ON api_key (team_id);

CREATE TABLE job (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    team_id BLOB NOT NULL REFERENCES team (id),
    key_id BLOB REFERENCES api_key (id),
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    request TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('scraping', 'completed', 'failed', 'cancelled')),
    page_limit INTEGER NOT NULL,
    -- Admitted URLs: open, done and failed ones. A dropped URL is subtracted again.
    admitted INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    credits INTEGER NOT NULL DEFAULT 0,
    -- Rows of job_url, whatever their state; bounds the frontier.
    url_count INTEGER NOT NULL DEFAULT 0,
    -- Position of the next URL in the order of discovery.
    next_position INTEGER NOT NULL DEFAULT 0,
    error_count INTEGER NOT NULL DEFAULT 0,
    event_count INTEGER NOT NULL DEFAULT 0,
    -- Time of the newest event; never goes back, so that events of a job stay in order.
    last_event_at INTEGER NOT NULL DEFAULT 0,
    -- Bits of the subscribed events: 1 started, 2 page, 4 completed, 8 failed.
    webhook_events INTEGER NOT NULL DEFAULT 0,
    zero_data_retention INTEGER NOT NULL DEFAULT 0,
    retention_ms INTEGER NOT NULL,
    -- JSON array of sentences.
    warnings TEXT NOT NULL DEFAULT '[]',
    error TEXT,
    -- Error response of a failed single scrape, returned again by later reads.
    answer_status INTEGER,
    answer_body TEXT,
    created_at INTEGER NOT NULL,
    completed_at INTEGER,
    expires_at INTEGER,
    -- Set when the job ends and spare rows may be left to delete.
    sweep INTEGER NOT NULL DEFAULT 0,
    CHECK (admitted <= page_limit),
    CHECK (completed + failed <= admitted)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_running ON job (team_id, kind, id) WHERE status = 'scraping';
CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX job_sweep ON job (id) WHERE sweep = 1;

-- The part of a job that one node owns at a time. `epoch` fences a former owner, `last_batch`
-- recognises a repeated commit.
CREATE TABLE shard (
    job_id BLOB NOT NULL REFERENCES job (id),
    no INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    owner TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    last_batch INTEGER NOT NULL DEFAULT 0,
    progress TEXT NOT NULL,
    PRIMARY KEY (job_id, no)
) STRICT, WITHOUT ROWID;

CREATE INDEX shard_free ON shard (lease_until) WHERE active = 1;

-- Every URL that a job knows. `known` rows (redirect targets, URLs blocked by robots.txt) are never fetched; a
-- redirect target has no url of its own.
CREATE TABLE job_url (
    job_id BLOB NOT NULL REFERENCES job (id),
    url_key BLOB NOT NULL CHECK (length(url_key) = 16),
    shard INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('spare', 'open', 'done', 'failed', 'dropped', 'known')),
    position INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    source TEXT NOT NULL,
    robots_blocked INTEGER NOT NULL DEFAULT 0,
    host_key TEXT,
    url TEXT,
    PRIMARY KEY (job_id, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_url_spare ON job_url (job_id, position) WHERE state = 'spare';
CREATE INDEX job_url_blocked ON job_url (job_id, position) WHERE robots_blocked = 1;

-- Bodies are in a table of their own, so that sizes are read without touching them.
CREATE TABLE body (
    id INTEGER PRIMARY KEY,
    zstd BLOB NOT NULL
) STRICT;

-- seq is 1, 2, 3 ... without gaps, in the order of completion. size_bytes is the length of the JSON text.
CREATE TABLE page (
    job_id BLOB NOT NULL REFERENCES job (id),
    seq INTEGER NOT NULL,
    url_key BLOB,
    scrape_id BLOB,
    status_code INTEGER,
    size_bytes INTEGER NOT NULL,
    body_id INTEGER,
    at INTEGER NOT NULL,
    PRIMARY KEY (job_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX page_of_scrape ON page (scrape_id) WHERE scrape_id IS NOT NULL;

CREATE TABLE job_error (
    job_id BLOB NOT NULL REFERENCES job (id),
    no INTEGER NOT NULL,
    scrape_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    url TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (job_id, no)
) STRICT, WITHOUT ROWID;

-- Credits, once per page and reason. Outlives its job.
CREATE TABLE ledger (
    job_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    reason TEXT NOT NULL,
    team_id BLOB NOT NULL,
    key_id BLOB,
    endpoint TEXT NOT NULL,
    credits INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (job_id, seq, reason)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_of_team ON ledger (team_id, at, credits);

-- The ledger added up per calendar month (UTC, 'YYYY-MM'), team and key (x'' without a key).
CREATE TABLE month_usage (
    team_id BLOB NOT NULL,
    month TEXT NOT NULL,
    key_id BLOB NOT NULL,
    credits INTEGER NOT NULL,
    PRIMARY KEY (team_id, month, key_id)
) STRICT, WITHOUT ROWID;

-- Webhook events to deliver. A page event refers to its page (seq) or to its error (error_no).
CREATE TABLE outbox (
    job_id BLOB NOT NULL REFERENCES job (id),
    event_no INTEGER NOT NULL,
    webhook_id BLOB NOT NULL,
    event TEXT NOT NULL,
    seq INTEGER,
    error_no INTEGER,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'given_up')),
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, event_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_due ON outbox (next_attempt_at) WHERE state = 'pending';
CREATE INDEX outbox_unattempted ON outbox (job_id, event_no) WHERE state = 'pending' AND attempts = 0;

-- Outcome of each delivery attempt.
CREATE TABLE delivery (
    job_id BLOB NOT NULL REFERENCES job (id),
    event_no INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    error TEXT,
    PRIMARY KEY (job_id, event_no, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
    job_id BLOB NOT NULL PRIMARY KEY,
    team_id BLOB NOT NULL,
    key_id BLOB,
    endpoint TEXT NOT NULL,
    target TEXT,
    origin TEXT,
    integration TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX activity_of_team ON activity (team_id, created_at, job_id);
CREATE INDEX activity_age ON activity (created_at);

-- Requests with an idempotency key, and the jobs that they created or extended.
CREATE TABLE idempotency (
    team_id BLOB NOT NULL,
    key TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    job_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (created_at);
