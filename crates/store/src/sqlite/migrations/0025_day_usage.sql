-- The ledger added up per day (UTC, 'YYYY-MM-DD'), team and key (x'' without a key), with the pages returned,
-- including free ones.
CREATE TABLE day_usage (
    team_id BLOB NOT NULL,
    day TEXT NOT NULL,
    key_id BLOB NOT NULL,
    credits INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    PRIMARY KEY (team_id, day, key_id)
) STRICT, WITHOUT ROWID;

INSERT INTO day_usage (team_id, day, key_id, credits, pages)
SELECT team_id, strftime('%Y-%m-%d', at / 1000, 'unixepoch'), coalesce(key_id, x''), sum(credits),
    sum(reason = 'page' AND endpoint NOT IN ('extract', 'agent'))
FROM ledger GROUP BY 1, 2, 3;
