-- Rows of jobs are in partitions by the day of the job's id (version 7: it begins with the time). Rows of other days are
-- in the default partition, which at first is the former table.

-- Returns the smallest job id of a day (UTC).
CREATE FUNCTION harvestman.first_id(day date) RETURNS uuid LANGUAGE sql IMMUTABLE AS
    $$ SELECT (lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $$;

DO $$
DECLARE
    parent text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['job_url', 'page', 'job_error', 'outbox', 'delivery'] LOOP
        EXECUTE format('ALTER TABLE harvestman.%I RENAME TO %I', parent, parent || '_default');
        EXECUTE format('CREATE TABLE harvestman.%I (LIKE harvestman.%I INCLUDING ALL) PARTITION BY RANGE (job_id)',
            parent, parent || '_default');
        EXECUTE format('ALTER TABLE harvestman.%I ATTACH PARTITION harvestman.%I DEFAULT',
            parent, parent || '_default');
    END LOOP;
END $$;

-- The partitions of days.
CREATE VIEW harvestman.day_partition AS
    SELECT parent.relname AS parent, part.relname AS name, to_date(right(part.relname, 8), 'YYYYMMDD') AS day
    FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
    WHERE parent.relkind = 'p' AND parent.relnamespace = 'harvestman'::regnamespace
        AND right(part.relname, 8) ~ '^[0-9]{8}$';

-- Adds a partition. Returns false if the default partition has rows of the day.
CREATE FUNCTION harvestman.add_partition(parent text, day date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    name text := parent || to_char(day, '_YYYYMMDD');
    is_used boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM harvestman.%I WHERE job_id >= %L AND job_id < %L)',
        parent || '_default', harvestman.first_id(day), harvestman.first_id(day + 1)) INTO is_used;
    IF is_used THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE harvestman.%I (LIKE harvestman.%I INCLUDING ALL) WITH (fillfactor = %s)',
        name, parent, CASE parent WHEN 'job_url' THEN 50 WHEN 'outbox' THEN 80 ELSE 100 END);
    EXECUTE format('ALTER TABLE harvestman.%I ATTACH PARTITION harvestman.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, harvestman.first_id(day), harvestman.first_id(day + 1));
    RETURN true;
END $$;
