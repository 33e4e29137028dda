-- A team's own secret for webhooks, and the operator's plan for it: a name in the settings.
ALTER TABLE team ADD COLUMN webhook_secret TEXT;
ALTER TABLE team ADD COLUMN plan TEXT;

-- The end of a key, by which its owner knows it again.
ALTER TABLE api_key ADD COLUMN hint TEXT NOT NULL DEFAULT '';

-- zero_data_retention of a job, between 1 and 2: 3 every document is gone, addresses and errors are going.
CREATE INDEX job_to_blank ON job (id) WHERE zero_data_retention = 3;
