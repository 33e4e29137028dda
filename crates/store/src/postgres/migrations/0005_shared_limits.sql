-- Units of the limits that all nodes share: what each node holds, and what it could use.
CREATE TABLE harvestman.share (
    subject text NOT NULL,
    node uuid NOT NULL,
    held bigint NOT NULL CHECK (held >= 0),
    wanted bigint NOT NULL CHECK (wanted >= 0),
    PRIMARY KEY (subject, node)
) WITH (fillfactor = 50);

-- Requests per minute: those used in the window that began at since, and those that the last statement granted.
CREATE TABLE harvestman.rate_window (
    subject text PRIMARY KEY,
    since bigint NOT NULL,
    used bigint NOT NULL,
    granted bigint NOT NULL
) WITH (fillfactor = 50);

-- When a request to a host may start: never before paused_until, and with a delay between requests not before
-- next_at.
CREATE TABLE harvestman.host (
    host text PRIMARY KEY,
    next_at bigint NOT NULL,
    paused_until bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
