-- zero_data_retention of a job: 0 keeps pages, 1 deletes them once delivered, 2 means that nothing is left.
CREATE INDEX job_to_forget ON job (completed_at) WHERE zero_data_retention = 1 AND completed_at IS NOT NULL;
