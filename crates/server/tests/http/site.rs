//! A small local site: `/` links to `/page/1` .. `/page/N`, whose responses wait for a permit. `/big` and the pages
//! it links to are large; `/loop` redirects to itself.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{Html, Redirect};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// A running site.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    gate: Arc<Semaphore>,
}

impl Site {
    /// Starts a site whose pages respond at once.
    pub(crate) async fn open(pages: usize) -> Site {
        let site = Site::blocked(pages).await;
        site.release(Semaphore::MAX_PERMITS);
        site
    }

    /// Starts a site whose `/page/N` respond once per permit.
    pub(crate) async fn blocked(pages: usize) -> Site {
        let gate = Arc::new(Semaphore::new(0));
        let links: String = (1..=pages)
            .map(|n| format!("<p><a href=\"/page/{n}\">{n}</a>"))
            .collect();
        let start = format!("<title>Start</title><h1>Start</h1>{links}");
        let waiting = gate.clone();
        let page = move |Path(n): Path<u32>| async move {
            waiting.acquire().await.unwrap().forget();
            Html(format!("<title>Page {n}</title><h1>Page {n}</h1>"))
        };
        let router = Router::new()
            .route("/", get(|| async { Html(start) }))
            .route("/page/{n}", get(page))
            .route("/loop", get(|| async { Redirect::to("/loop") }))
            .route("/big", get(big))
            .route("/big/{n}", get(big));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Site { address, gate }
    }

    pub(crate) fn release(&self, pages: usize) {
        self.gate.add_permits(pages);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Returns 3 MiB of text, with links to four more such pages and to a page that waits for a permit.
async fn big() -> Html<String> {
    let mut links: String = (1..=4)
        .map(|n| format!("<p><a href=\"/big/{n}\">{n}</a>"))
        .collect();
    links.push_str("<p><a href=\"/page/1\">1</a>");
    let text = "All work and no play makes a dull page. ".repeat(3 * 1024 * 1024 / 40);
    Html(format!("<title>Big</title>{links}<p>{text}"))
}
