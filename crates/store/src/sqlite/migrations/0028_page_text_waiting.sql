-- Cached pages whose text is not in page_text yet, with the hash of that text. The texts are in the memory of the server;
-- the hash of one that was lost in a crash is 0.
CREATE TABLE page_text_waiting (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL) STRICT;

DROP TRIGGER page_text_goes;
CREATE TRIGGER page_text_goes AFTER DELETE ON cached_page WHEN OLD.site IS NOT NULL BEGIN
    DELETE FROM page_text WHERE rowid = OLD.id;
    DELETE FROM page_text_hash WHERE id = OLD.id;
    DELETE FROM page_text_waiting WHERE id = OLD.id;
END;
