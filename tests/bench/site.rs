//! A generated web site of any size at little cost: every page is generated from its number, nothing is stored.
//!
//! Pages form a tree with ten children per page, plus random links, links to neighbours and a menu. Each page has an
//! article with 5 to 10 KB of text. The server supports only plain HTTP/1.1 `GET` requests.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use harvestman_tests::arguments::Arguments;

/// Children of a page in the tree.
const BRANCHES: u64 = 10;
/// Entries of the menu on every page.
const MENU: u64 = 10;
/// Random links of a page.
const RANDOM_LINKS: u64 = 15;
/// Different sentences in articles.
const SENTENCES: usize = 512;
/// Longest request in bytes; a longer one closes its connection.
const REQUEST_BYTES: usize = 16 * 1024;

const WORDS: &[&str] = &[
    "harvest", "field", "river", "engine", "letter", "morning", "stone", "garden", "signal", "market",
    "winter", "paper", "bridge", "copper", "shadow", "window", "ladder", "island", "meadow", "captain",
    "thread", "copy", "measure", "answer", "the", "a", "of", "and", "to", "in", "for", "with", "on", "that",
    "under", "every", "quiet", "early", "broken", "simple", "open", "later", "carries", "finds", "keeps",
    "turns", "follows", "writes", "rests",
];

/// A site that runs until it is dropped.
pub(crate) struct GeneratedSite {
    address: SocketAddr,
    served: Arc<AtomicU64>,
    _task: AbortOnDropHandle<()>,
}

impl GeneratedSite {
    /// Serves any number of trees: `/NAME/...` is the tree `NAME`, whose size is part of the name (`docs-1000`). Each
    /// response is delayed by `latency`.
    pub(crate) async fn serve(latency: Duration) -> io::Result<GeneratedSite> {
        Self::serve_at(Ipv4Addr::LOCALHOST.into(), latency).await
    }

    /// Serves like [`GeneratedSite::serve`], on another local address.
    pub(crate) async fn serve_at(address: IpAddr, latency: Duration) -> io::Result<GeneratedSite> {
        let listener = TcpListener::bind((address, 0)).await?;
        let address = listener.local_addr()?;
        let served = Arc::new(AtomicU64::new(0));
        let (writer, count) = (Arc::new(Writer::new()), served.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_connection(stream, writer.clone(), count.clone(), latency));
            }
        });
        Ok(GeneratedSite {
            address,
            served,
            _task: AbortOnDropHandle::new(task),
        })
    }

    /// Returns the URL of the first page of a tree.
    pub(crate) fn start(&self, tree: &str) -> String {
        format!("http://{}/{tree}/", self.address)
    }

    /// Returns the number of the page at `url` in its tree; none if it is not a page of this site.
    pub(crate) fn number(&self, url: &str) -> Option<u64> {
        let path = url
            .strip_prefix("http://")?
            .strip_prefix(&self.address.to_string())?;
        parse(path).map(|(_, number)| number)
    }

    /// Returns the number of served pages.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

/// Runs `site --latency-ms L`: serves until the process is stopped.
pub(crate) async fn run(arguments: &mut Arguments) -> anyhow::Result<()> {
    let latency = Duration::from_millis(arguments.number("--latency-ms", 0)?);
    arguments.end()?;
    let site = GeneratedSite::serve(latency).await?;
    println!(
        "{} is a site of 10000 pages; change the number for another size",
        site.start("docs-10000")
    );
    std::future::pending().await
}

/// Reads until `request` has the whole head of a request. Returns its length; `None` if the connection ends or the head
/// is too large.
pub(crate) async fn read_head(stream: &mut TcpStream, request: &mut Vec<u8>) -> Option<usize> {
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            return Some(end + 4);
        }
        if request.len() > REQUEST_BYTES || !matches!(stream.read_buf(request).await, Ok(1..)) {
            return None;
        }
    }
}

/// Serves the requests of one connection in turn.
async fn serve_connection(
    mut stream: TcpStream,
    writer: Arc<Writer>,
    served: Arc<AtomicU64>,
    latency: Duration,
) {
    let _ = stream.set_nodelay(true);
    let mut request = Vec::with_capacity(1024);
    let mut response = Vec::with_capacity(16 * 1024);
    loop {
        let Some(end) = read_head(&mut stream, &mut request).await else {
            return;
        };
        let head = String::from_utf8_lossy(&request[..end]);
        let path = head.split(' ').nth(1).unwrap_or_default();
        response.clear();
        if writer.respond(path, &mut response) {
            served.fetch_add(1, Ordering::Relaxed);
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
        }
        request.drain(..end);
        if stream.write_all(&response).await.is_err() {
            return;
        }
    }
}

/// Returns tree and number of a path: `/docs-1000/stone/quiet-river-17` is 17 of `docs-1000`, `/docs-1000/` is 0.
fn parse(path: &str) -> Option<(&str, u64)> {
    let (tree, rest) = path.strip_prefix('/')?.split_once('/')?;
    let number = match rest {
        "" => 0,
        rest => rest.rsplit_once('-')?.1.parse().ok()?,
    };
    (number < size(tree)?).then_some((tree, number))
}

/// Returns the number of pages of a tree from its name.
fn size(tree: &str) -> Option<u64> {
    tree.rsplit_once('-')?.1.parse().ok()
}

fn mix(mut number: u64) -> u64 {
    // splitmix64
    number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn word(number: u64) -> &'static str {
    WORDS[usize::try_from(number % WORDS.len() as u64).unwrap_or(0)]
}

/// Generator of pages.
struct Writer {
    sentences: Vec<String>,
}

impl Writer {
    fn new() -> Writer {
        let sentence = |index: u64| {
            let words = 8 + mix(index) % 14;
            let text: Vec<&str> = (0..words)
                .map(|position| word(mix(index * 64 + position)))
                .collect();
            format!("Sentence {index} says {}. ", text.join(" "))
        };
        Writer {
            sentences: (0..SENTENCES as u64).map(sentence).collect(),
        }
    }

    /// Writes the complete response and returns whether it is a page.
    fn respond(&self, path: &str, out: &mut Vec<u8>) -> bool {
        let page = parse(path).map(|(tree, number)| self.page(tree, number));
        let (status, body) = match &page {
            Some(body) => ("200 OK", body.as_str()),
            None => (
                "404 Not Found",
                "<!doctype html><title>Not here</title><p>Nothing is here.",
            ),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(body.as_bytes());
        page.is_some()
    }

    fn page(&self, tree: &str, number: u64) -> String {
        let size = size(tree).unwrap_or(1);
        let mut html = String::with_capacity(12 * 1024);
        let title = format!("{} {} {number}", word(mix(number)), word(mix(number ^ 77)));
        html.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
        html.push_str(&title);
        html.push_str("</title><meta name=\"description\" content=\"A page about ");
        html.push_str(&title);
        html.push_str("\"><link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body><header><nav><ul>\n");
        for entry in 0..MENU.min(size) {
            html.push_str("<li>");
            link(&mut html, tree, entry);
            html.push_str("</li>\n");
        }
        html.push_str("</ul></nav></header>\n<main><article><h1>");
        html.push_str(&title);
        html.push_str("</h1>\n");
        let random_page = |position: u64| mix(number * 31 + position) % size;
        for part in 0..5 + mix(number) % 5 {
            html.push_str("<h2>");
            html.push_str(word(mix(number * 7 + part)));
            html.push_str("</h2>\n<p>");
            for position in 0..3 + mix(number ^ part) % 3 {
                let index = mix(number * 1_009 + part * 17 + position) % SENTENCES as u64;
                html.push_str(&self.sentences[usize::try_from(index).unwrap_or(0)]);
            }
            link(&mut html, tree, random_page(part));
            html.push_str(" and <strong>what follows</strong>, <code>code</code> too.</p>\n");
        }
        html.push_str("<table><tr><th>Name</th><th>Value</th></tr>\n");
        for row in 0..4 {
            let value = mix(number + row) % 1_000;
            html.push_str(&format!("<tr><td>{}</td><td>{value}</td></tr>\n", word(value)));
        }
        html.push_str("</table>\n<h2>Below</h2><ul>\n");
        let first = number.saturating_mul(BRANCHES).saturating_add(1);
        for child in (first..first.saturating_add(BRANCHES)).take_while(|child| *child < size) {
            html.push_str("<li>");
            link(&mut html, tree, child);
            html.push_str("</li>\n");
        }
        html.push_str("</ul></article></main>\n<aside><ul>\n");
        for position in 0..RANDOM_LINKS {
            html.push_str("<li>");
            link(&mut html, tree, random_page(100 + position));
            html.push_str("</li>\n");
        }
        html.push_str("</ul></aside>\n<footer><p>");
        link(&mut html, tree, number.saturating_sub(1) / BRANCHES);
        link(&mut html, tree, (number + 1) % size);
        html.push_str("Terms, privacy and a line about cookies.</p></footer></body></html>\n");
        html
    }
}

fn link(html: &mut String, tree: &str, number: u64) {
    let (folder, first, second) = (word(number % 7), word(mix(number)), word(mix(number ^ 77)));
    if number == 0 {
        html.push_str(&format!("<a href=\"/{tree}/\">Start</a> "));
    } else {
        html.push_str(&format!(
            "<a href=\"/{tree}/{folder}/{first}-{second}-{number}\">{first} {second}</a> "
        ));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_is_linked_and_has_the_stated_size() {
        let writer = Writer::new();
        let (mut seen, mut queue) = (BTreeSet::from([0]), vec![0]);
        while let Some(number) = queue.pop() {
            let html = writer.page("docs-500", number);
            assert!((4_000..12_000).contains(&html.len()), "{} bytes", html.len());
            for href in html.split("href=\"").skip(1) {
                let href = href.split('"').next().unwrap();
                if let Some((tree, linked)) = parse(href) {
                    assert_eq!(tree, "docs-500");
                    if seen.insert(linked) {
                        queue.push(linked);
                    }
                }
            }
        }
        assert_eq!(seen, (0..500).collect());
    }

    #[test]
    fn paths_are_parsed_and_pages_outside_of_the_tree_rejected() {
        assert_eq!(parse("/docs-20/"), Some(("docs-20", 0)));
        assert_eq!(parse("/docs-20/stone/quiet-river-17"), Some(("docs-20", 17)));
        assert_eq!(parse("/docs-20/stone/quiet-river-20"), None);
        assert_eq!(parse("/robots.txt"), None);
        assert_eq!(parse("/style.css"), None);
    }
}
