-- Sums of the ledger by day (UTC, 'YYYY-MM-DD'), with the pages returned, including free ones. key_id is nil without
-- a key. Locked after month_usage.
CREATE TABLE harvestman.day_usage (
    team_id uuid NOT NULL,
    day text COLLATE "C" NOT NULL,
    key_id uuid NOT NULL,
    credits bigint NOT NULL,
    pages bigint NOT NULL,
    PRIMARY KEY (team_id, day, key_id)
) WITH (fillfactor = 50);

INSERT INTO harvestman.day_usage (team_id, day, key_id, credits, pages)
SELECT team_id, to_char(to_timestamp(at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
    coalesce(key_id, '00000000-0000-0000-0000-000000000000'), sum(credits),
    count(*) FILTER (WHERE reason = 'page' AND endpoint NOT IN ('extract', 'agent'))
FROM harvestman.ledger GROUP BY 1, 2, 3;
