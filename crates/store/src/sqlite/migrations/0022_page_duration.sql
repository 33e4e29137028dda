-- Time from the start of the fetch to the finished document; none for pages stored before this column.
ALTER TABLE page ADD COLUMN took_ms INTEGER;
