-- What `changeTracking` compares field by field, as JSON text; none where nobody asked for it.
ALTER TABLE page_version ADD COLUMN data TEXT;

-- What an event of an extract or agent tells, as JSON text. Events of pages refer to their page instead.
ALTER TABLE outbox ADD COLUMN data TEXT;
