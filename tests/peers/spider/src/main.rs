//! Crawls a site with spider and converts every page to Markdown, to compare `cargo xtask bench compare` with.
//! Keeps URL, title, Markdown and links of every page in memory; stores nothing.
//!
//! Usage: `spider-peer URL LIMIT`. Prints the pages and the bytes of Markdown as JSON.

use std::sync::Arc;

use spider::page::Page;
use spider::website::Website;
use spider_transformations::transformation::content::{ReturnFormat, TransformConfig, transform_content};
use tokio::sync::Semaphore;

struct Document {
    markdown: String,
    links: usize,
}

fn convert(page: &Page) -> Document {
    let config = TransformConfig {
        return_format: ReturnFormat::Markdown,
        ..TransformConfig::default()
    };
    Document {
        markdown: transform_content(page, &config, &None, &None, &None),
        links: page.page_links.as_ref().map_or(0, |links| links.len()),
    }
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("the first argument is the URL");
    let limit = arguments
        .next()
        .and_then(|limit| limit.parse().ok())
        .expect("the second argument is the page limit");
    let mut website = Website::new(&url);
    website
        .with_limit(limit)
        .with_respect_robots_txt(true)
        .with_return_page_links(true);
    // Large enough that no page is lost before its conversion.
    let mut pages = website.subscribe(100_000);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let converting = tokio::spawn(async move {
        let permits = Arc::new(Semaphore::new(cores));
        let mut conversions = Vec::new();
        while let Ok(page) = pages.recv().await {
            let permit = permits.clone().acquire_owned().await.expect("it is never closed");
            conversions.push(tokio::task::spawn_blocking(move || {
                let document = convert(&page);
                drop(permit);
                document
            }));
        }
        let mut documents = Vec::new();
        for conversion in conversions {
            documents.extend(conversion.await);
        }
        documents
    });
    website.crawl().await;
    website.unsubscribe();
    let documents = converting.await.expect("converting does not panic");
    let bytes: usize = documents.iter().map(|document| document.markdown.len()).sum();
    let links: usize = documents.iter().map(|document| document.links).sum();
    println!(
        "{{\"pages\":{},\"markdownBytes\":{bytes},\"links\":{links}}}",
        documents.len()
    );
}
