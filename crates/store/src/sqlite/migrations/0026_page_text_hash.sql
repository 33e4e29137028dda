-- Hash of what page_text contains of a page: a page that is fetched again with the same words is not indexed again.
CREATE TABLE page_text_hash (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL) STRICT;

DROP TRIGGER page_text_goes;
CREATE TRIGGER page_text_goes AFTER DELETE ON cached_page WHEN OLD.site IS NOT NULL BEGIN
    DELETE FROM page_text WHERE rowid = OLD.id;
    DELETE FROM page_text_hash WHERE id = OLD.id;
END;
