-- Activity of one kind, and the newest success of a team, are found without looking at the others.
CREATE INDEX activity_of_endpoint ON activity (team_id, endpoint, created_at, job_id);
CREATE INDEX job_succeeded ON job (team_id, completed_at) WHERE status = 'completed';

-- Reports and budgets read month_usage; the ledger is what it is checked against, and is only added up whole.
DROP INDEX ledger_of_team;
