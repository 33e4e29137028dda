-- A team's own secret for webhooks, and the operator's plan for it: a name in the settings.
ALTER TABLE team ADD COLUMN webhook_secret TEXT;
ALTER TABLE team ADD COLUMN plan TEXT;

-- The end of a key, by which its owner knows it again.
ALTER TABLE api_key ADD COLUMN hint TEXT NOT NULL DEFAULT '';
