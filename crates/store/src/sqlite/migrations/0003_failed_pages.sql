-- Failed pages of a job are found by their scrape id, as fetched ones are.
CREATE INDEX job_error_of_scrape ON job_error (scrape_id);
