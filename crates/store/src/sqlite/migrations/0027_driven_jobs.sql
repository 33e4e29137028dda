-- Running jobs that have a shard, so that shards are leased team by team.
CREATE INDEX job_driven ON job (team_id, id) WHERE status = 'scraping' AND kind <> 'scrape';
