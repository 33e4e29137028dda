-- The index of waiting URLs depends on a column that changes once, when a URL is admitted. Later changes of its state touch
-- no index, so that they are HOT updates, which write no index entries.
ALTER TABLE harvestman.job_url ADD COLUMN waiting boolean GENERATED ALWAYS AS (state = 'spare') STORED;
CREATE INDEX job_url_waiting ON harvestman.job_url (job_id, position) WHERE waiting;
DO $$
DECLARE
    former regclass;
BEGIN
    SELECT indexrelid INTO STRICT former FROM pg_index
        WHERE indrelid = 'harvestman.job_url'::regclass AND pg_get_expr(indpred, indrelid) LIKE '%spare%';
    EXECUTE format('DROP INDEX %s', former);
END $$;
