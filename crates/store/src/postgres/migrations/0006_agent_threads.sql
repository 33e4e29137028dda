-- Threads of agents. The id of a thread is that of its first run, whose number is 1.
ALTER TABLE harvestman.job ADD COLUMN thread_id uuid;
ALTER TABLE harvestman.job ADD COLUMN thread_turn bigint;
-- What a run found before its end, as JSON text.
ALTER TABLE harvestman.job ADD COLUMN partial_result text;
CREATE UNIQUE INDEX job_of_thread ON harvestman.job (thread_id, thread_turn) WHERE thread_id IS NOT NULL;

-- Traces of agents. zstd is the content that the event refers to, size_bytes its length.
CREATE TABLE harvestman.run_event (
    job_id uuid NOT NULL,
    no bigint NOT NULL,
    event text NOT NULL,
    size_bytes bigint,
    zstd bytea,
    PRIMARY KEY (job_id, no)
);
ALTER TABLE harvestman.run_event ALTER COLUMN zstd SET STORAGE EXTERNAL;
