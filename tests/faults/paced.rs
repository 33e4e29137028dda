//! A host with a `Crawl-delay`, crawled by two jobs at once, which may run on different servers.

use std::time::Duration;

use anyhow::{Result, ensure};
use harvestman_tests::{Page, RunningSite, Site};
use serde_json::json;
use tokio::try_join;

use crate::work::Worker;

const PAGES: usize = 6;
/// `Crawl-delay` of the host.
const DELAY: Duration = Duration::from_secs(1);
/// How much shorter than the delay a pause may be, because the earlier of two requests may have arrived late.
const LATE: Duration = Duration::from_millis(500);

impl Worker {
    /// Crawls one host after the other until it is stopped.
    ///
    /// # Errors
    /// Two requests to a host that are too close.
    pub(crate) async fn crawl_paced(self) -> Result<()> {
        let mut round = 0;
        while !*self.stopped.borrow() {
            let site = site().await;
            let key = |job| format!("paced-{round}-{job}");
            let (one, other) = (key(1), key(2));
            try_join!(self.crawl(&site, &one), self.crawl(&site, &other))?;
            let mut times: Vec<_> = site
                .hits()
                .iter()
                .filter(|hit| hit.path != "/robots.txt")
                .map(|hit| hit.at)
                .collect();
            times.sort();
            let closest = times.windows(2).map(|pair| pair[1] - pair[0]).min();
            ensure!(
                closest.is_some_and(|pause| pause + LATE > DELAY),
                "two requests to a host with a delay of {DELAY:?} after {closest:?}"
            );
            round += 1;
        }
        println!("  {round} times two crawls of a host kept its delay");
        Ok(())
    }

    async fn crawl(&self, site: &RunningSite, key: &str) -> Result<()> {
        let request = json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": { "maxAge": 0 } });
        let end = self.run_job("/v2/crawl", key, &request).await?.1;
        ensure!(end["completed"] == PAGES + 1, "not every page of the host: {end}");
        Ok(())
    }
}

async fn site() -> RunningSite {
    let links: Vec<String> = (0..PAGES).map(|number| format!("/{number}")).collect();
    let robots = format!("User-agent: *\nCrawl-delay: {}\n", DELAY.as_secs());
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let site = Site::new()
        .page("/robots.txt", Page::new("text/plain", robots))
        .page("/", Page::links("home", &links));
    links
        .iter()
        .fold(site, |site, path| site.page(path, Page::links(path, &[])))
        .serve()
        .await
}
