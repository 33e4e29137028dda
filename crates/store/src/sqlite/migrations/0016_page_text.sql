-- Words of cached pages, for searches of their team. The text is not stored here: results are made from the cached
-- page. Each row has the id of its page and is deleted with it.
CREATE VIRTUAL TABLE page_text USING fts5 (
    team, host, path, title, description, headings, body,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER page_text_goes AFTER DELETE ON cached_page WHEN OLD.site IS NOT NULL BEGIN
    DELETE FROM page_text WHERE rowid = OLD.id;
END;
