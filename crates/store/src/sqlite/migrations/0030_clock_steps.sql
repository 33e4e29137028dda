-- When next_run_at was set, so that no check waits for it after the clock has been set back.
ALTER TABLE monitor ADD COLUMN scheduled_at INTEGER NOT NULL DEFAULT 0;
