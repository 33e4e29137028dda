-- A revoked key stays for the ledger and the jobs that refer to it, but gives no access.
ALTER TABLE api_key ADD COLUMN revoked_at INTEGER;

-- Recent jobs of a team: ids sort by time.
CREATE INDEX job_of_team ON job (team_id, id);
