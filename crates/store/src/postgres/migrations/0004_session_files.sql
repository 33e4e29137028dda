-- Files that clients send for a later request. The token in the upload URL allows one transfer; the id is the
-- reference that the team passes on, once.
CREATE TABLE harvestman.upload (
    id uuid PRIMARY KEY,
    token text NOT NULL UNIQUE,
    team_id uuid NOT NULL,
    name text NOT NULL,
    content_type text,
    -- Null until the file has arrived.
    bytes bytea,
    expires_at bigint NOT NULL
);
ALTER TABLE harvestman.upload ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX upload_of_team ON harvestman.upload (team_id);
CREATE INDEX upload_expiry ON harvestman.upload (expires_at);

-- What a browser session downloaded and was given; deleted with the session.
CREATE TABLE harvestman.session_file (
    session_id uuid NOT NULL REFERENCES harvestman.session (id) ON DELETE CASCADE,
    no bigint NOT NULL,
    is_upload boolean NOT NULL,
    name text NOT NULL,
    content_type text NOT NULL,
    url text,
    size_bytes bigint NOT NULL,
    -- Token of the file with the content; null if there is none.
    token text,
    -- Why there is no content.
    error text,
    created_at bigint NOT NULL,
    PRIMARY KEY (session_id, no)
);
