-- Words of kept pages, for searches of their team. Their text is not here: what is shown is made from the kept page.
-- Every row has the id of its page and goes with it.
CREATE VIRTUAL TABLE page_text USING fts5 (
    team, host, path, title, description, headings, body,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER page_text_goes AFTER DELETE ON cached_page WHEN OLD.site IS NOT NULL BEGIN
    DELETE FROM page_text WHERE rowid = OLD.id;
END;
