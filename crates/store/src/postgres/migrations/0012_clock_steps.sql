-- When the times of a row were set, so that nothing waits for them after the clock has been set back.
ALTER TABLE harvestman.monitor ADD COLUMN scheduled_at bigint NOT NULL DEFAULT 0;
ALTER TABLE harvestman.host ADD COLUMN set_at bigint NOT NULL DEFAULT 0;
