//! Jobs run here: scheduler, crawl driver, scraper.
