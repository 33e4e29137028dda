//! A web site in this process with declared pages and a record of every request.
//!
//! Undeclared paths return 404. A site can hold back its responses, so that a test can act in the middle of a crawl
//! without depending on time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::serve::serve;

/// Response of a path.
#[derive(Clone, Debug)]
pub struct Page {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    delay: Duration,
}

impl Page {
    /// Creates a page with this body and content type.
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Page {
        let page = Page {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: body.into(),
            delay: Duration::ZERO,
        };
        page.header("content-type", content_type)
    }

    /// Creates an HTML page.
    pub fn html(body: impl Into<Bytes>) -> Page {
        Page::new("text/html; charset=utf-8", body)
    }

    /// Creates an HTML page with a title, some text, and links in this order.
    pub fn links(title: &str, links: &[&str]) -> Page {
        let list: String = links
            .iter()
            .map(|link| format!("<li><a href=\"{link}\">to {link}</a></li>\n"))
            .collect();
        Page::html(format!(
            "<!doctype html>\n<html lang=\"en\"><head><title>{title}</title></head>\n<body><main><h1>{title}</h1>\n\
             <p>This page is called {title} and has a sentence or two of its own to be read.</p>\n<ul>\n{list}</ul>\n\
             </main></body></html>\n"
        ))
    }

    /// Creates a redirect.
    pub fn redirect(status: u16, to: &str) -> Page {
        Page::new("text/plain", "moved")
            .status(status)
            .header("location", to)
    }

    /// Sets the status.
    pub fn status(mut self, status: u16) -> Page {
        self.status = StatusCode::from_u16(status).expect("the test defines a valid status");
        self
    }

    /// Sets a header field.
    pub fn header(mut self, name: &str, value: &str) -> Page {
        let name = HeaderName::try_from(name).expect("the test defines a valid header name");
        self.headers.insert(
            name,
            HeaderValue::from_str(value).expect("the test defines a valid header value"),
        );
        self
    }

    /// Delays the response.
    pub fn delay(mut self, delay: Duration) -> Page {
        self.delay = delay;
        self
    }
}

/// A site that is not yet running.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pages: BTreeMap<String, Page>,
}

impl Site {
    /// Creates a site without pages.
    pub fn new() -> Site {
        Site::default()
    }

    /// Adds a page at `path`, which may have a query.
    pub fn page(mut self, path: &str, page: Page) -> Site {
        self.pages.insert(path.to_owned(), page);
        self
    }

    /// Adds a page of links at each path.
    pub fn graph(self, graph: &[(&str, &[&str])]) -> Site {
        graph.iter().fold(self, |site, (path, links)| {
            site.page(path, Page::links(path, links))
        })
    }

    /// Delays the responses of all pages.
    pub fn delay(mut self, delay: Duration) -> Site {
        self.pages.values_mut().for_each(|page| page.delay = delay);
        self
    }

    /// Serves the site on a free port of 127.0.0.1. In bodies, `{base}` becomes its base URL and `{port}` a colon and
    /// its port.
    pub async fn serve(self) -> RunningSite {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        self.serve_on(listener)
    }

    fn serve_on(mut self, listener: TcpListener) -> RunningSite {
        let address = listener.local_addr().expect("the listener is bound");
        for page in self.pages.values_mut() {
            if let Ok(text) = std::str::from_utf8(&page.body)
                && (text.contains("{base}") || text.contains("{port}"))
            {
                let port = format!(":{}", address.port());
                page.body = text
                    .replace("{base}", &format!("http://{address}"))
                    .replace("{port}", &port)
                    .into();
            }
        }
        let shared = Arc::new(Shared {
            pages: Mutex::new(self.pages),
            hits: Mutex::default(),
            gate: watch::Sender::new(u64::MAX),
            arrived: watch::Sender::new(0),
            in_flight: AtomicUsize::new(0),
            max_in_flight: AtomicUsize::new(0),
        });
        let state = shared.clone();
        let task = serve(listener, move |request| respond(state.clone(), request));
        RunningSite {
            address,
            shared,
            _task: task,
        }
    }
}

/// Request that the site received.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Path and query.
    pub path: String,
    /// Time of the request.
    pub at: Instant,
    /// Header fields.
    pub headers: HeaderMap,
}

/// A site that runs until it is dropped.
pub struct RunningSite {
    address: SocketAddr,
    shared: Arc<Shared>,
    _task: AbortOnDropHandle<()>,
}

struct Shared {
    pages: Mutex<BTreeMap<String, Page>>,
    hits: Mutex<Vec<Hit>>,
    /// Number of page requests that may get a response.
    gate: watch::Sender<u64>,
    /// Number of page requests so far.
    arrived: watch::Sender<u64>,
    /// Page requests in progress.
    in_flight: AtomicUsize,
    max_in_flight: AtomicUsize,
}

/// Page request in progress.
struct InFlight<'a>(&'a Shared);

impl InFlight<'_> {
    fn begin(shared: &Shared) -> InFlight<'_> {
        let now = shared.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        shared.max_in_flight.fetch_max(now, Ordering::SeqCst);
        InFlight(shared)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

impl RunningSite {
    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the absolute URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the absolute URL of a path with another host name.
    pub fn url_at(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// Returns the largest number of page requests in progress at once.
    pub fn max_in_flight(&self) -> usize {
        self.shared.max_in_flight.load(Ordering::SeqCst)
    }

    /// Replaces the page of a path; `None` removes it.
    pub fn change(&self, path: &str, page: Option<Page>) {
        let mut pages = self.shared.pages.lock();
        match page {
            Some(page) => pages.insert(path.to_owned(), page),
            None => pages.remove(path),
        };
    }

    /// Returns every request so far, in order.
    pub fn hits(&self) -> Vec<Hit> {
        self.shared.hits.lock().clone()
    }

    /// Returns the number of requests for each path.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for hit in self.shared.hits.lock().iter() {
            *counts.entry(hit.path.clone()).or_default() += 1;
        }
        counts
    }

    /// Returns the number of requests for a path.
    pub fn count(&self, path: &str) -> usize {
        self.counts().get(path).copied().unwrap_or(0)
    }

    /// Holds back responses after the first `responses` page requests since the start, until
    /// [`RunningSite::release`]. robots.txt and sitemaps are not held back.
    pub fn hold_after(&self, responses: u64) {
        self.shared.gate.send_replace(responses);
    }

    /// Stops holding back responses.
    pub fn release(&self) {
        self.shared.gate.send_replace(u64::MAX);
    }

    /// Waits until this many page requests have arrived.
    ///
    /// # Panics
    /// If they do not arrive within a minute.
    pub async fn wait_for_requests(&self, number: u64) {
        let mut arrived = self.shared.arrived.subscribe();
        let wait = arrived.wait_for(|arrived| *arrived >= number);
        let came = tokio::time::timeout(Duration::from_secs(60), wait).await;
        assert!(
            came.is_ok(),
            "{number} requests were expected, {} arrived",
            *self.shared.arrived.borrow()
        );
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request
        .uri()
        .path_and_query()
        .map_or_else(|| "/".to_owned(), ToString::to_string);
    let hit = Hit {
        path: path.clone(),
        at: Instant::now(),
        headers: request.headers().clone(),
    };
    shared.hits.lock().push(hit);
    let mut in_flight = None;
    if !is_site_file(&path) {
        in_flight = Some(InFlight::begin(&shared));
        let mut number = 0;
        shared.arrived.send_modify(|arrived| {
            *arrived += 1;
            number = *arrived;
        });
        let mut gate = shared.gate.subscribe();
        if gate.wait_for(|open| number <= *open).await.is_err() {
            return not_found();
        }
    }
    let page = shared.pages.lock().get(&path).cloned();
    let Some(page) = page else {
        return not_found();
    };
    if !page.delay.is_zero() {
        tokio::time::sleep(page.delay).await;
    }
    drop(in_flight);
    let mut response = Response::new(Full::new(page.body.clone()));
    *response.status_mut() = page.status;
    *response.headers_mut() = page.headers.clone();
    response
}

fn is_site_file(path: &str) -> bool {
    path == "/robots.txt" || path.starts_with("/sitemap")
}

fn not_found() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(
        b"<!doctype html><title>Not found</title><h1>Not found</h1>",
    )));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("text/html"));
    response
}
