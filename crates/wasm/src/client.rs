//! The client, one method per call. Requests are validated as strictly as by the server before anything is sent.

use std::{cell::RefCell, rc::Rc, str::FromStr};

use harvestman_client::{Client, ClientError, DocumentStream};
use harvestman_core::{
    api::{ApiError, BatchScrapeRequest, CrawlRequest, MapRequest, ScrapeRequest, job::StatusQuery},
    ids::{JobId, ScrapeId},
};
use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use crate::boundary::{bad_input, call_failure, input_failure, json_text, to_js};

/// A client of one server with one key.
#[wasm_bindgen]
pub struct ApiClient {
    client: Client,
}

#[wasm_bindgen]
impl ApiClient {
    /// Creates a client. `base` is the URL of the server; `key` is absent in open mode.
    #[wasm_bindgen(constructor)]
    pub fn new(base: String, key: Option<String>) -> ApiClient {
        ApiClient {
            client: Client::new(base, key),
        }
    }

    /// `POST /v2/scrape`; resolves to the document.
    pub fn scrape(&self, request: JsValue, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let request = parse(&request, ScrapeRequest::from_json)?;
        Ok(self.call(signal, async move |client: Client| client.scrape(&request).await))
    }

    /// `GET /v2/scrape/{id}`; resolves to the document.
    #[wasm_bindgen(js_name = scrapeResult)]
    pub fn scrape_result(&self, id: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let id = parse_id::<ScrapeId>(id)?;
        Ok(self.call(signal, async move |client: Client| client.scrape_result(id).await))
    }

    /// `POST /v2/crawl`.
    #[wasm_bindgen(js_name = startCrawl)]
    pub fn start_crawl(&self, request: JsValue, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let request = parse(&request, CrawlRequest::from_json)?;
        Ok(self.call(signal, async move |client: Client| {
            client.start_crawl(&request).await
        }))
    }

    /// `GET /v2/crawl/{id}`.
    #[wasm_bindgen(js_name = crawlStatus)]
    pub fn crawl_status(
        &self,
        id: &str,
        skip: f64,
        limit: Option<f64>,
        signal: Option<AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        let query = query(skip, limit);
        Ok(self.call(signal, async move |client: Client| {
            client.crawl_status(id, query).await
        }))
    }

    /// `DELETE /v2/crawl/{id}`.
    #[wasm_bindgen(js_name = cancelCrawl)]
    pub fn cancel_crawl(&self, id: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        Ok(self.call(signal, async move |client: Client| client.cancel_crawl(id).await))
    }

    /// `GET /v2/crawl/{id}/errors`.
    #[wasm_bindgen(js_name = crawlErrors)]
    pub fn crawl_errors(&self, id: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        Ok(self.call(signal, async move |client: Client| client.crawl_errors(id).await))
    }

    /// `GET /v2/crawl/active`.
    #[wasm_bindgen(js_name = activeCrawls)]
    pub fn active_crawls(&self, signal: Option<AbortSignal>) -> Promise {
        self.call(signal, async move |client: Client| client.active_crawls().await)
    }

    /// `POST /v2/map`.
    pub fn map(&self, request: JsValue, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let request = parse(&request, MapRequest::from_json)?;
        Ok(self.call(signal, async move |client: Client| client.map(&request).await))
    }

    /// Streams the documents of a crawl.
    #[wasm_bindgen(js_name = crawlPages)]
    pub fn crawl_pages(&self, id: &str, signal: Option<AbortSignal>) -> Result<JobPages, JsValue> {
        Ok(JobPages::new(
            self.with(signal).crawl_pages(parse_id::<JobId>(id)?),
        ))
    }

    /// `POST /v2/batch/scrape`.
    #[wasm_bindgen(js_name = startBatchScrape)]
    pub fn start_batch_scrape(
        &self,
        request: JsValue,
        signal: Option<AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let request = parse(&request, BatchScrapeRequest::from_json)?;
        Ok(self.call(signal, async move |client: Client| {
            client.start_batch_scrape(&request).await
        }))
    }

    /// `GET /v2/batch/scrape/{id}`.
    #[wasm_bindgen(js_name = batchScrapeStatus)]
    pub fn batch_scrape_status(
        &self,
        id: &str,
        skip: f64,
        limit: Option<f64>,
        signal: Option<AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        let query = query(skip, limit);
        Ok(self.call(signal, async move |client: Client| {
            client.batch_scrape_status(id, query).await
        }))
    }

    /// `DELETE /v2/batch/scrape/{id}`.
    #[wasm_bindgen(js_name = cancelBatchScrape)]
    pub fn cancel_batch_scrape(&self, id: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        Ok(self.call(signal, async move |client: Client| {
            client.cancel_batch_scrape(id).await
        }))
    }

    /// `GET /v2/batch/scrape/{id}/errors`.
    #[wasm_bindgen(js_name = batchScrapeErrors)]
    pub fn batch_scrape_errors(&self, id: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        let id = parse_id::<JobId>(id)?;
        Ok(self.call(signal, async move |client: Client| {
            client.batch_scrape_errors(id).await
        }))
    }

    /// Streams the documents of a batch scrape.
    #[wasm_bindgen(js_name = batchScrapePages)]
    pub fn batch_scrape_pages(&self, id: &str, signal: Option<AbortSignal>) -> Result<JobPages, JsValue> {
        Ok(JobPages::new(
            self.with(signal).batch_scrape_pages(parse_id::<JobId>(id)?),
        ))
    }
}

impl ApiClient {
    fn with(&self, signal: Option<AbortSignal>) -> Client {
        match signal {
            Some(signal) => self.client.with_signal(signal),
            None => self.client.clone(),
        }
    }

    /// Runs `call` on its own client, so that JavaScript may free this object in the meantime.
    fn call<T, F>(&self, signal: Option<AbortSignal>, call: F) -> Promise
    where
        T: Serialize,
        F: AsyncFnOnce(Client) -> Result<T, ClientError> + 'static,
    {
        let client = self.with(signal);
        future_to_promise(async move { to_js(&call(client).await.map_err(|error| call_failure(&error))?) })
    }
}

/// Stream of the documents of a job. After an error, the next call continues at the same position.
#[wasm_bindgen]
pub struct JobPages {
    /// `None` while a call is in progress.
    pages: Rc<RefCell<Option<DocumentStream>>>,
}

impl JobPages {
    fn new(pages: DocumentStream) -> Self {
        Self {
            pages: Rc::new(RefCell::new(Some(pages))),
        }
    }
}

#[wasm_bindgen]
impl JobPages {
    /// Resolves to the next document, or to `undefined` when the job has ended and every document was returned.
    pub fn next(&self) -> Promise {
        let shared = Rc::clone(&self.pages);
        future_to_promise(async move {
            let Some(mut pages) = shared.borrow_mut().take() else {
                return Err(bad_input("another call is already waiting for the next page"));
            };
            let next = pages.next().await;
            *shared.borrow_mut() = Some(pages);
            match next.map_err(|error| call_failure(&error))? {
                Some(document) => to_js(&document),
                None => Ok(JsValue::UNDEFINED),
            }
        })
    }

    /// Returns the last known progress of the job without documents; `undefined` before the first page.
    pub fn progress(&self) -> Result<JsValue, JsValue> {
        match self.pages.borrow().as_ref().and_then(DocumentStream::progress) {
            Some(progress) => to_js(progress),
            None => Ok(JsValue::UNDEFINED),
        }
    }
}

fn query(skip: f64, limit: Option<f64>) -> StatusQuery {
    StatusQuery {
        skip: skip as u64,
        limit: limit.map(|limit| limit as u64),
    }
}

fn parse<T>(request: &JsValue, from_json: impl Fn(&[u8]) -> Result<T, ApiError>) -> Result<T, JsValue> {
    from_json(json_text(request)?.as_bytes()).map_err(|error| input_failure(&error))
}

fn parse_id<T: FromStr>(text: &str) -> Result<T, JsValue> {
    text.parse()
        .map_err(|_| bad_input(&format!("`{text}` is not an id: ids are UUIDs")))
}
