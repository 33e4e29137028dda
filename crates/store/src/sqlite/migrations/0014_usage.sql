-- Finds activity of one kind, and the newest success of a team, without reading other rows.
CREATE INDEX activity_of_endpoint ON activity (team_id, endpoint, created_at, job_id);
CREATE INDEX job_succeeded ON job (team_id, completed_at) WHERE status = 'completed';

-- Reports and budgets read month_usage; the ledger only serves to check it, and is always summed as a whole.
DROP INDEX ledger_of_team;
