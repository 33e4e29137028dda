-- How a call without a job ended: 'completed', or 'failed' with what the caller was told. Null for others, whose job or
-- session says it.
ALTER TABLE activity ADD COLUMN outcome TEXT;
ALTER TABLE activity ADD COLUMN failure TEXT;
