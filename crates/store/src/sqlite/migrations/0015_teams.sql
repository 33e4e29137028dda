-- A team's own secret for webhooks, and the operator's plan for it: a name in the settings.
ALTER TABLE team ADD COLUMN webhook_secret TEXT;
ALTER TABLE team ADD COLUMN plan TEXT;

-- The last characters of a key, so that its owner can recognise it.
ALTER TABLE api_key ADD COLUMN hint TEXT NOT NULL DEFAULT '';

-- zero_data_retention of a job, between 1 and 2: 3 means that all documents are deleted, and URLs and errors are
-- being deleted.
CREATE INDEX job_to_blank ON job (id) WHERE zero_data_retention = 3;
