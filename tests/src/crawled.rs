//! A crawl from its start to its last document, with its numbers checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::TestServer;
use crate::site::RunningSite;

/// A crawl that has ended, read whole.
#[derive(Debug)]
pub struct Crawled {
    /// Its id.
    pub id: String,
    /// Its last status, without documents.
    pub status: Value,
    /// Its documents.
    pub documents: Vec<Value>,
    /// Address and code of each entry of its error list.
    pub errors: BTreeMap<String, String>,
    /// What robots.txt refused.
    pub robots_blocked: BTreeSet<String>,
}

impl TestServer {
    /// Starts a crawl and waits for its end.
    ///
    /// # Panics
    /// When it is refused, does not end, or its numbers do not add up.
    pub async fn crawled(&self, request: &Value) -> Crawled {
        let id = self.crawl(request).await;
        self.read_crawl(id).await
    }

    /// Waits for the end of a crawl that was started and reads it.
    ///
    /// # Panics
    /// When it does not end or its numbers do not add up.
    pub async fn read_crawl(&self, id: String) -> Crawled {
        let status = self.wait(&id).await;
        let (documents, _) = self.documents(&id, 1000).await;
        let answer = self.get(&format!("/v2/crawl/{id}/errors")).await.ok();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let list = |name: &str| answer[name].as_array().expect("a list").clone();
        let errors: BTreeMap<_, _> = list("errors")
            .iter()
            .map(|entry| (text(&entry["url"]), text(&entry["code"])))
            .collect();
        let crawled = Crawled {
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

impl Crawled {
    /// `sourceURL` of every document.
    pub fn visited(&self) -> BTreeSet<String> {
        let source = |document: &Value| document["metadata"]["sourceURL"].as_str().map(str::to_owned);
        self.documents.iter().filter_map(source).collect()
    }

    /// Asserts which pages of a site were visited, and that nothing else was.
    ///
    /// # Panics
    /// When it is not so, or the crawl did not complete.
    pub fn assert_visited(&self, site: &RunningSite, paths: &[&str]) {
        assert_eq!(self.status["status"], "completed", "{}", self.status);
        let expected: BTreeSet<String> = paths.iter().map(|path| site.url(path)).collect();
        assert_eq!(self.visited(), expected);
    }

    /// The document of a page.
    ///
    /// # Panics
    /// When there is none.
    pub fn document(&self, url: &str) -> &Value {
        let found = self
            .documents
            .iter()
            .find(|document| document["metadata"]["sourceURL"] == url);
        found.unwrap_or_else(|| panic!("no document of {url}: {:?}", self.visited()))
    }

    fn check_numbers(&self) {
        let (status, documents) = (&self.status, self.documents.len());
        assert_eq!(self.visited().len(), documents, "each page once");
        assert_eq!(status["completed"], documents, "{status}");
        assert_eq!(status["creditsUsed"], documents, "{status}");
        if status["status"] != "cancelled" {
            let dropped = |code: &&String| *code == "OUT_OF_SCOPE";
            let failed = self.errors.len() - self.errors.values().filter(dropped).count();
            assert_eq!(status["total"], documents + failed, "{status} {:?}", self.errors);
        }
    }
}
