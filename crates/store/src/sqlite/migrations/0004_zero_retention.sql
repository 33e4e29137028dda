-- zero_data_retention of a job: 0 pages are kept, 1 none once delivered, 2 none is left.
CREATE INDEX job_to_forget ON job (completed_at) WHERE zero_data_retention = 1 AND completed_at IS NOT NULL;
