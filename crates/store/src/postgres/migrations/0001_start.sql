-- The first schema. Times are milliseconds since 1970 (UTC); url_key is a UrlKey as uuid. Numbers are bigint.
-- There are no foreign keys between large tables: they would lock the parent row.

-- Returns the time on which decisions depend: the database's, whatever the clock of the node says. Tests of the
-- store replace it with one that returns the argument.
CREATE FUNCTION harvestman.clock(node_time bigint) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint';

CREATE TABLE harvestman.node (
    id uuid PRIMARY KEY,
    started_at bigint NOT NULL,
    seen_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE harvestman.team (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    webhook_secret text,
    plan text
);

-- Only the SHA-256 of a key is stored, never the key.
CREATE TABLE harvestman.api_key (
    id uuid PRIMARY KEY,
    team_id uuid NOT NULL REFERENCES harvestman.team (id),
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    hint text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    revoked_at bigint
) WITH (fillfactor = 70);
CREATE INDEX api_key_of_team ON harvestman.api_key (team_id);

CREATE TABLE harvestman.job (
    id uuid PRIMARY KEY,
    team_id uuid NOT NULL,
    key_id uuid,
    kind text NOT NULL,
    url text NOT NULL,
    request text NOT NULL,
    base text NOT NULL,
    status text NOT NULL CHECK (status IN ('scraping', 'completed', 'failed', 'cancelled')),
    -- The node that runs a single scrape.
    node uuid,
    page_limit bigint NOT NULL,
    admitted bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    credits bigint NOT NULL DEFAULT 0,
    url_count bigint NOT NULL DEFAULT 0,
    next_position bigint NOT NULL DEFAULT 0,
    error_count bigint NOT NULL DEFAULT 0,
    event_count bigint NOT NULL DEFAULT 0,
    last_event_at bigint NOT NULL DEFAULT 0,
    webhook_events bigint NOT NULL,
    -- 0: pages are kept; 1: each page is deleted once delivered; 3: URLs are being deleted; 2: nothing is left.
    zero_data_retention bigint NOT NULL,
    retention_ms bigint NOT NULL,
    warnings text NOT NULL DEFAULT '[]',
    error text,
    answer_status bigint,
    answer_body text,
    created_at bigint NOT NULL,
    completed_at bigint,
    expires_at bigint,
    -- Whether spare URLs of the ended job may be left to delete.
    sweep boolean NOT NULL DEFAULT false,
    CHECK (admitted <= page_limit),
    CHECK (completed + failed <= admitted)
) WITH (fillfactor = 60);
CREATE INDEX job_running ON harvestman.job (team_id, kind, id) WHERE status = 'scraping';
CREATE INDEX job_of_team ON harvestman.job (team_id, id);
CREATE INDEX job_succeeded ON harvestman.job (team_id, completed_at) WHERE status = 'completed';
CREATE INDEX job_expiry ON harvestman.job (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX job_sweep ON harvestman.job (id) WHERE sweep;
CREATE INDEX job_of_node ON harvestman.job (node) WHERE status = 'scraping' AND node IS NOT NULL;
CREATE INDEX job_to_erase ON harvestman.job (completed_at)
    WHERE zero_data_retention = 1 AND completed_at IS NOT NULL;
CREATE INDEX job_erasing ON harvestman.job (id) WHERE zero_data_retention = 3;

-- The part of a job that one node owns at a time. It is free from lease_until on. For a while after it became free
-- (from free_at at the earliest), only nodes below their share take it. epoch fences a former owner, last_batch
-- recognises a repeated commit.
CREATE TABLE harvestman.shard (
    job_id uuid NOT NULL,
    no bigint NOT NULL,
    active boolean NOT NULL DEFAULT true,
    node uuid,
    epoch bigint NOT NULL DEFAULT 0,
    lease_until bigint NOT NULL DEFAULT 0,
    free_at bigint NOT NULL DEFAULT 0,
    last_batch bigint NOT NULL DEFAULT 0,
    progress text NOT NULL,
    PRIMARY KEY (job_id, no)
) WITH (fillfactor = 50);
CREATE INDEX shard_active ON harvestman.shard (job_id, no) WHERE active;

CREATE TABLE harvestman.job_url (
    job_id uuid NOT NULL,
    url_key uuid NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('spare', 'open', 'done', 'failed', 'dropped', 'known')),
    position bigint NOT NULL,
    depth bigint NOT NULL,
    source text NOT NULL,
    robots_blocked boolean NOT NULL DEFAULT false,
    url text,
    found_on uuid,
    PRIMARY KEY (job_id, url_key)
) WITH (fillfactor = 80);
CREATE INDEX job_url_spare ON harvestman.job_url (job_id, position) WHERE state = 'spare';
CREATE INDEX job_url_blocked ON harvestman.job_url (job_id, position) WHERE robots_blocked;

-- seq is 1, 2, 3 ... without gaps. size_bytes is the length of the JSON text, which zstd holds compressed.
CREATE TABLE harvestman.page (
    job_id uuid NOT NULL,
    seq bigint NOT NULL,
    url_key uuid,
    scrape_id uuid,
    status_code bigint,
    size_bytes bigint NOT NULL,
    at bigint NOT NULL,
    zstd bytea,
    PRIMARY KEY (job_id, seq)
);
ALTER TABLE harvestman.page ALTER COLUMN zstd SET STORAGE EXTERNAL;
CREATE INDEX page_of_scrape ON harvestman.page (scrape_id) WHERE scrape_id IS NOT NULL;

CREATE TABLE harvestman.job_error (
    job_id uuid NOT NULL,
    no bigint NOT NULL,
    scrape_id uuid NOT NULL,
    at bigint NOT NULL,
    url text NOT NULL,
    code text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (job_id, no)
);
CREATE INDEX job_error_of_scrape ON harvestman.job_error (scrape_id);

CREATE TABLE harvestman.page_version (
    team_id uuid NOT NULL,
    url_key uuid NOT NULL,
    tag text NOT NULL,
    at bigint NOT NULL,
    status_code bigint NOT NULL,
    size_bytes bigint NOT NULL,
    zstd bytea NOT NULL,
    data text,
    PRIMARY KEY (team_id, url_key, tag)
);

-- Credits, once per page and reason. Outlives its job.
CREATE TABLE harvestman.ledger (
    job_id uuid NOT NULL,
    seq bigint NOT NULL,
    reason text NOT NULL,
    team_id uuid NOT NULL,
    key_id uuid,
    endpoint text NOT NULL,
    credits bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (job_id, seq, reason)
);

-- Sums of the ledger. key_id is nil without a key.
CREATE TABLE harvestman.month_usage (
    team_id uuid NOT NULL,
    month text NOT NULL,
    key_id uuid NOT NULL,
    credits bigint NOT NULL,
    PRIMARY KEY (team_id, month, key_id)
) WITH (fillfactor = 50);

CREATE TABLE harvestman.outbox (
    job_id uuid NOT NULL,
    event_no bigint NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL,
    seq bigint,
    error_no bigint,
    data text,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'given_up')),
    attempts bigint NOT NULL DEFAULT 0,
    created_at bigint NOT NULL,
    next_attempt_at bigint NOT NULL,
    PRIMARY KEY (job_id, event_no)
) WITH (fillfactor = 80);
CREATE INDEX outbox_due ON harvestman.outbox (job_id, next_attempt_at, event_no) WHERE state = 'pending';

-- The receiver of a job's events, and the node that delivers to it.
CREATE TABLE harvestman.receiver (
    job_id uuid PRIMARY KEY,
    webhook text NOT NULL,
    due_at bigint,
    lease_until bigint NOT NULL DEFAULT 0,
    node uuid
) WITH (fillfactor = 60);
CREATE INDEX receiver_due ON harvestman.receiver (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE harvestman.delivery (
    job_id uuid NOT NULL,
    event_no bigint NOT NULL,
    attempt bigint NOT NULL,
    at bigint NOT NULL,
    duration_ms bigint NOT NULL,
    status_code bigint,
    error text,
    PRIMARY KEY (job_id, event_no, attempt)
);

CREATE TABLE harvestman.activity (
    job_id uuid PRIMARY KEY,
    team_id uuid NOT NULL,
    key_id uuid,
    endpoint text NOT NULL,
    target text,
    origin text,
    integration text,
    created_at bigint NOT NULL,
    outcome text,
    failure text,
    username text
);
CREATE INDEX activity_of_team ON harvestman.activity (team_id, created_at, job_id);
CREATE INDEX activity_of_endpoint ON harvestman.activity (team_id, endpoint, created_at, job_id);
CREATE INDEX activity_age ON harvestman.activity (created_at);

CREATE TABLE harvestman.idempotency (
    team_id uuid NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    job_id uuid NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (team_id, key)
);
CREATE INDEX idempotency_age ON harvestman.idempotency (created_at);

CREATE TABLE harvestman.file (
    token text PRIMARY KEY,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    expires_at bigint NOT NULL
);
ALTER TABLE harvestman.file ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX file_expiry ON harvestman.file (expires_at);

CREATE TABLE harvestman.session (
    id uuid PRIMARY KEY,
    -- The node that holds the browser.
    node uuid,
    team_id uuid NOT NULL,
    key_id uuid,
    kind text NOT NULL,
    -- The scrape that it continues; no scrape has two sessions.
    scrape_id uuid,
    stream_web_view boolean NOT NULL,
    created_at bigint NOT NULL,
    last_activity_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    ended_at bigint,
    credits bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX session_of_scrape ON harvestman.session (scrape_id) WHERE scrape_id IS NOT NULL;
CREATE INDEX session_of_team ON harvestman.session (team_id, created_at, id);
CREATE INDEX session_live ON harvestman.session (node) WHERE ended_at IS NULL;
CREATE INDEX session_age ON harvestman.session (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE harvestman.profile (
    team_id uuid NOT NULL,
    name text NOT NULL,
    size_bytes bigint NOT NULL,
    zstd bytea NOT NULL,
    updated_at bigint NOT NULL,
    -- Distinguishes profiles that were saved at the same time.
    no bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (team_id, name)
);
CREATE INDEX profile_age ON harvestman.profile (team_id, updated_at, no);

-- The session or job that writes to a profile, and the node that runs it.
CREATE TABLE harvestman.profile_lock (
    team_id uuid NOT NULL,
    name text NOT NULL,
    owner uuid NOT NULL,
    node uuid NOT NULL,
    PRIMARY KEY (team_id, name)
);

-- The words of a page: stemmed as on SQLite (Porter), without stop words.
CREATE TEXT SEARCH DICTIONARY harvestman.stem (TEMPLATE = snowball, LANGUAGE = porter);
CREATE TEXT SEARCH CONFIGURATION harvestman.words (COPY = pg_catalog.simple);
ALTER TEXT SEARCH CONFIGURATION harvestman.words
    ALTER MAPPING FOR asciiword, word, numword WITH harvestman.stem;

-- The newest response of each team and key. The column words is set for a page that search can find. Its weights:
-- A title, B path and headings, C description, D host and body.
CREATE TABLE harvestman.cached_page (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id uuid NOT NULL,
    cache_key uuid NOT NULL,
    site text,
    url text NOT NULL,
    title text,
    description text,
    status_code bigint NOT NULL,
    content_type text,
    fetched_at bigint NOT NULL,
    size_bytes bigint NOT NULL,
    stored_bytes bigint NOT NULL,
    zstd bytea NOT NULL,
    words tsvector,
    host_words tsvector,
    path_words tsvector,
    UNIQUE (team_id, cache_key)
);
ALTER TABLE harvestman.cached_page ALTER COLUMN zstd SET STORAGE EXTERNAL;
CREATE INDEX cached_page_age ON harvestman.cached_page (fetched_at) INCLUDE (stored_bytes);
CREATE INDEX cached_sitemap_age ON harvestman.cached_page (fetched_at) WHERE site IS NULL;
CREATE INDEX cached_page_of_site ON harvestman.cached_page (team_id, site, id) WHERE site IS NOT NULL;
CREATE INDEX cached_page_words ON harvestman.cached_page USING gin (words);

-- Monitors. A check is due at next_run_at, which is null while the monitor is paused or deleted.
CREATE TABLE harvestman.monitor (
    id uuid PRIMARY KEY,
    team_id uuid NOT NULL,
    -- The key that created it; checks count as its use.
    key_id uuid,
    status text NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
    request text NOT NULL,
    base text NOT NULL,
    next_run_at bigint,
    last_run_at bigint,
    -- The check that has not ended.
    check_id uuid,
    last_summary text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE INDEX monitor_of_team ON harvestman.monitor (team_id, id) WHERE status <> 'deleted';
CREATE INDEX monitor_due ON harvestman.monitor (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX monitor_deleted ON harvestman.monitor (id) WHERE status = 'deleted';

-- Checks. Each has a job of the same id, which owns its events and its expiry.
CREATE TABLE harvestman.monitor_check (
    id uuid PRIMARY KEY,
    monitor_id uuid NOT NULL,
    status text NOT NULL,
    scheduled_for bigint,
    started_at bigint,
    finished_at bigint,
    summary text NOT NULL DEFAULT '{}',
    target_results text,
    error text,
    -- Ids of the jobs that fetch its pages, by target, as JSON text.
    jobs text NOT NULL,
    credits bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    -- Until when a node works on it; null once it has ended.
    lease_until bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE INDEX check_of_monitor ON harvestman.monitor_check (monitor_id, id);
CREATE INDEX check_open ON harvestman.monitor_check (id) WHERE lease_until IS NOT NULL;

-- Pages of a check, in the order in which they were compared.
CREATE TABLE harvestman.monitor_page (
    check_id uuid NOT NULL,
    target bigint NOT NULL,
    no bigint NOT NULL,
    status text NOT NULL,
    entry text NOT NULL,
    PRIMARY KEY (check_id, target, no)
);
CREATE INDEX monitor_page_status ON harvestman.monitor_page (check_id, status, target, no);

-- Pages that a target had at the last check that saw them.
CREATE TABLE harvestman.monitor_url (
    monitor_id uuid NOT NULL,
    target bigint NOT NULL,
    url_key uuid NOT NULL,
    url text NOT NULL,
    scrape_id uuid,
    check_id uuid NOT NULL,
    PRIMARY KEY (monitor_id, target, url_key)
);
CREATE INDEX page_version_of_tag ON harvestman.page_version (team_id, tag);

-- Feedback of clients on results, for the operator. Kept for a year.
CREATE TABLE harvestman.feedback (
    id uuid PRIMARY KEY,
    team_id uuid NOT NULL,
    job_id uuid NOT NULL,
    endpoint text NOT NULL,
    rating text NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (team_id, job_id)
);
CREATE INDEX feedback_age ON harvestman.feedback (created_at, id);
