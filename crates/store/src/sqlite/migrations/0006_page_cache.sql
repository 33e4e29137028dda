-- Responses of sites, stored for later requests of the same team: the newest of each key.
CREATE TABLE cached_page (
    id INTEGER PRIMARY KEY,
    team_id BLOB NOT NULL,
    cache_key BLOB NOT NULL CHECK (length(cache_key) = 16),
    -- Registrable domain or host, under which maps list the page. NULL for a sitemap, which is not a page.
    site TEXT,
    -- After redirects.
    url TEXT NOT NULL,
    title TEXT,
    description TEXT,
    status_code INTEGER NOT NULL,
    content_type TEXT,
    fetched_at INTEGER NOT NULL,
    -- Of the body before compression.
    size_bytes INTEGER NOT NULL,
    -- Estimated size of the row on disk.
    stored_bytes INTEGER NOT NULL,
    -- Last, so that pages are listed without reading it.
    zstd BLOB NOT NULL,
    UNIQUE (team_id, cache_key)
) STRICT;

CREATE INDEX cached_page_age ON cached_page (fetched_at);
CREATE INDEX cached_sitemap_age ON cached_page (fetched_at) WHERE site IS NULL;
CREATE INDEX cached_page_of_site ON cached_page (team_id, site) WHERE site IS NOT NULL;

-- Sum of all stored_bytes: one row.
CREATE TABLE cache_size (
    bytes INTEGER NOT NULL
) STRICT;

INSERT INTO cache_size (bytes) VALUES (0);

CREATE TRIGGER cached_page_comes AFTER INSERT ON cached_page BEGIN
    UPDATE cache_size SET bytes = bytes + NEW.stored_bytes;
END;

CREATE TRIGGER cached_page_changes AFTER UPDATE ON cached_page BEGIN
    UPDATE cache_size SET bytes = bytes + NEW.stored_bytes - OLD.stored_bytes;
END;

CREATE TRIGGER cached_page_goes AFTER DELETE ON cached_page BEGIN
    UPDATE cache_size SET bytes = bytes - OLD.stored_bytes;
END;
