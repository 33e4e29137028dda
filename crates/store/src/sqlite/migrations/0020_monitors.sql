-- Monitors. A check is due at next_run_at, which is null while the monitor is paused or deleted.
CREATE TABLE monitor (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    team_id BLOB NOT NULL REFERENCES team (id),
    -- The key that created it; checks count as its use.
    key_id BLOB,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
    -- JSON text.
    request TEXT NOT NULL,
    base TEXT NOT NULL,
    next_run_at INTEGER,
    last_run_at INTEGER,
    -- The check that has not ended.
    check_id BLOB,
    -- Summary of the last check that ended, as JSON text.
    last_summary TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX monitor_of_team ON monitor (team_id, id) WHERE status <> 'deleted';
CREATE INDEX monitor_due ON monitor (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX monitor_deleted ON monitor (id) WHERE status = 'deleted';

-- Checks. Each has a job of the same id, which owns its events and its expiry.
CREATE TABLE monitor_check (
    id BLOB NOT NULL PRIMARY KEY REFERENCES job (id),
    monitor_id BLOB NOT NULL REFERENCES monitor (id),
    status TEXT NOT NULL,
    scheduled_for INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    -- JSON texts.
    summary TEXT NOT NULL DEFAULT '{}',
    target_results TEXT,
    error TEXT,
    -- Ids of the jobs that fetch its pages, by target, as JSON text.
    jobs TEXT NOT NULL,
    credits INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    -- Until when a node works on it; null once it has ended.
    lease_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX check_of_monitor ON monitor_check (monitor_id, id);
CREATE INDEX check_open ON monitor_check (lease_until) WHERE lease_until IS NOT NULL;

-- Pages of a check, in the order in which they were compared.
CREATE TABLE monitor_page (
    check_id BLOB NOT NULL REFERENCES monitor_check (id),
    target INTEGER NOT NULL,
    no INTEGER NOT NULL,
    status TEXT NOT NULL,
    -- JSON text.
    entry TEXT NOT NULL,
    PRIMARY KEY (check_id, target, no)
) STRICT, WITHOUT ROWID;

CREATE INDEX monitor_page_status ON monitor_page (check_id, status, target, no);

-- Pages that a target had at the last check that saw them.
CREATE TABLE monitor_url (
    monitor_id BLOB NOT NULL REFERENCES monitor (id),
    target INTEGER NOT NULL,
    url_key BLOB NOT NULL CHECK (length(url_key) = 16),
    url TEXT NOT NULL,
    scrape_id BLOB,
    check_id BLOB NOT NULL,
    PRIMARY KEY (monitor_id, target, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX page_version_of_tag ON page_version (team_id, tag);
