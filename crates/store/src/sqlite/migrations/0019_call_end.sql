-- How a call without a job ended: `completed`, or `failed` with the error that the client got. Null for others, whose
-- job or session has it.
ALTER TABLE activity ADD COLUMN outcome TEXT;
ALTER TABLE activity ADD COLUMN failure TEXT;
