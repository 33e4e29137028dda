-- A job's events go to one receiver, one at a time: due events are found by job, whatever the number of events that
-- wait.
CREATE TABLE receiver (
    job_id BLOB NOT NULL PRIMARY KEY REFERENCES job (id),
    -- The request's `webhook` as JSON text.
    webhook TEXT NOT NULL,
    -- When the next attempt may begin; NULL if no event is pending.
    due_at INTEGER,
    -- End of the current deliverer's lease, or the time at which the last deliverer released it.
    lease_until INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX receiver_due ON receiver (due_at) WHERE due_at IS NOT NULL;

DROP INDEX outbox_due;
DROP INDEX outbox_unattempted;
ALTER TABLE outbox DROP COLUMN lease_until;
CREATE INDEX outbox_due ON outbox (job_id, next_attempt_at, event_no) WHERE state = 'pending';

INSERT INTO receiver (job_id, webhook, due_at)
SELECT id, request -> '$.webhook',
    (SELECT min(next_attempt_at) FROM outbox WHERE job_id = job.id AND state = 'pending')
FROM job WHERE webhook_events <> 0 AND request -> '$.webhook' IS NOT NULL;
