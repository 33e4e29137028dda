-- url_key of the page with the first link to the URL; none for seeds, entries of sitemaps and given pages.
ALTER TABLE job_url ADD COLUMN found_on BLOB;
