//! Reads a finished crawl with all its documents and checks that its counts are consistent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::TestServer;
use crate::site::RunningSite;

/// A finished crawl.
#[derive(Debug)]
pub struct FinishedCrawl {
    /// Job id.
    pub id: String,
    /// Final status, without documents.
    pub status: Value,
    /// All documents.
    pub documents: Vec<Value>,
    /// URL and code of each entry of the error list.
    pub errors: BTreeMap<String, String>,
    /// URLs that robots.txt blocked.
    pub robots_blocked: BTreeSet<String>,
}

impl TestServer {
    /// Starts a crawl and waits for its end.
    pub async fn run_crawl(&self, request: &Value) -> FinishedCrawl {
        let id = self.crawl(request).await;
        self.read_crawl(id).await
    }

    /// Waits for the end of a running crawl and reads it.
    pub async fn read_crawl(&self, id: String) -> FinishedCrawl {
        let status = self.wait(&id).await;
        let (documents, _) = self.documents(&id, 1000).await;
        let response = self.get(&format!("/v2/crawl/{id}/errors")).await.ok();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let list = |name: &str| response[name].as_array().expect("a list").clone();
        let errors: BTreeMap<_, _> = list("errors")
            .iter()
            .map(|entry| (text(&entry["url"]), text(&entry["code"])))
            .collect();
        let crawled = FinishedCrawl {
            id,
            status,
            documents,
            errors,
            robots_blocked: list("robotsBlocked").iter().map(text).collect(),
        };
        crawled.check_numbers();
        crawled
    }
}

impl FinishedCrawl {
    /// Returns `sourceURL` of every document.
    pub fn visited(&self) -> BTreeSet<String> {
        let source = |document: &Value| document["metadata"]["sourceURL"].as_str().map(str::to_owned);
        self.documents.iter().filter_map(source).collect()
    }

    /// Asserts that exactly these pages of a site were visited.
    pub fn assert_visited(&self, site: &RunningSite, paths: &[&str]) {
        assert_eq!(self.status["status"], "completed", "{}", self.status);
        let expected: BTreeSet<String> = paths.iter().map(|path| site.url(path)).collect();
        assert_eq!(self.visited(), expected);
    }

    /// Returns the document of a page.
    pub fn document(&self, url: &str) -> &Value {
        let found = self
            .documents
            .iter()
            .find(|document| document["metadata"]["sourceURL"] == url);
        found.unwrap_or_else(|| panic!("no document of {url}: {:?}", self.visited()))
    }

    fn check_numbers(&self) {
        let (status, documents) = (&self.status, self.documents.len());
        assert_eq!(self.visited().len(), documents, "each page has one document");
        assert_eq!(status["completed"], documents, "{status}");
        assert_eq!(status["creditsUsed"], documents, "{status}");
        if status["status"] != "cancelled" {
            let dropped = |code: &&String| *code == "OUT_OF_SCOPE";
            let failed = self.errors.len() - self.errors.values().filter(dropped).count();
            assert_eq!(status["total"], documents + failed, "{status} {:?}", self.errors);
        }
    }
}
