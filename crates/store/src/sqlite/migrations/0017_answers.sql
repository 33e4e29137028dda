-- What `changeTracking` compares field by field, as JSON text; NULL if not requested.
ALTER TABLE page_version ADD COLUMN data TEXT;

-- Data of an event of an extract or agent, as JSON text. Events of pages refer to their page instead.
ALTER TABLE outbox ADD COLUMN data TEXT;
