//! A generated documentation site: sections with navigation, code, tables, previous and next links, a sitemap and
//! robots.txt. The same parameters always generate the same site.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::site::{Page, Site};

const PAGES_PER_SECTION: usize = 20;

/// Parameters of the site.
#[derive(Clone, Debug)]
pub struct DocsSite {
    pages: usize,
    orphans: usize,
    sitemap: bool,
    disallow: Vec<String>,
}

impl DocsSite {
    /// Creates a site of `pages` pages, all of them reachable by links from `/`, without sitemap and robots.txt.
    pub fn new(pages: usize) -> DocsSite {
        assert!(pages > 0, "a site has at least its front page");
        DocsSite {
            pages,
            orphans: 0,
            sitemap: false,
            disallow: Vec::new(),
        }
    }

    /// Adds a sitemap index with a plain and a gzip-compressed sitemap.
    pub fn sitemap(mut self) -> DocsSite {
        self.sitemap = true;
        self
    }

    /// Adds pages that are only in the sitemap.
    pub fn orphans(mut self, orphans: usize) -> DocsSite {
        self.orphans = orphans;
        self.sitemap()
    }

    /// Adds a path that robots.txt disallows.
    pub fn disallow(mut self, path: &str) -> DocsSite {
        self.disallow.push(path.to_owned());
        self
    }

    /// Returns the paths of all linked pages, the front page first.
    pub fn paths(&self) -> Vec<String> {
        (0..self.pages).map(path).collect()
    }

    /// Returns the paths of the pages that are only in the sitemap.
    pub fn orphan_paths(&self) -> Vec<String> {
        (0..self.orphans)
            .map(|number| format!("/unlinked/{number}"))
            .collect()
    }

    /// Generates the site.
    pub fn build(&self) -> Site {
        let mut site = Site::new();
        for number in 0..self.pages {
            site = site.page(&path(number), Page::html(self.html(number)));
        }
        for path in self.orphan_paths() {
            site = site.page(&path, Page::links(&path, &[]));
        }
        if self.sitemap {
            let all: Vec<String> = self.paths().into_iter().chain(self.orphan_paths()).collect();
            let (first, second) = all.split_at(all.len() / 2);
            let index = wrap(
                "sitemapindex",
                "sitemap",
                &["/sitemap-1.xml".to_owned(), "/sitemap-2.xml.gz".to_owned()],
            );
            site = site
                .page("/sitemap.xml", Page::new("application/xml", index))
                .page(
                    "/sitemap-1.xml",
                    Page::new("application/xml", wrap("urlset", "url", first)),
                );
            // The base URL is known only when the site is served and cannot be inserted into compressed bytes, so the
            // second sitemap has relative URLs.
            let second = wrap("urlset", "url", second).replace("{base}", "");
            site = site.page(
                "/sitemap-2.xml.gz",
                Page::new("application/gzip", gzip(second.as_bytes())),
            );
        }
        if !self.disallow.is_empty() {
            let mut robots = "User-agent: *\n".to_owned();
            for path in &self.disallow {
                let _ = writeln!(robots, "Disallow: {path}");
            }
            if self.sitemap {
                robots.push_str("Sitemap: {base}/sitemap.xml\n");
            }
            site = site.page("/robots.txt", Page::new("text/plain", robots));
        }
        site
    }

    fn html(&self, number: usize) -> String {
        let title = title(number);
        let mut navigation = String::new();
        for section in (0..self.pages).step_by(PAGES_PER_SECTION) {
            let _ = writeln!(
                navigation,
                "<li><a href=\"{}\">{}</a></li>",
                path(section),
                self::title(section)
            );
        }
        let mut siblings = String::new();
        let section = number - number % PAGES_PER_SECTION;
        for sibling in section..(section + PAGES_PER_SECTION).min(self.pages) {
            let _ = writeln!(
                siblings,
                "<li><a href=\"{}#top\">{}</a></li>",
                path(sibling),
                self::title(sibling)
            );
        }
        let previous = number.checked_sub(1).map_or(String::new(), |at| {
            format!("<a rel=\"prev\" href=\"{}\">Previous</a>", path(at))
        });
        let next = if number + 1 < self.pages {
            format!("<a rel=\"next\" href=\"{}\">Next</a>", path(number + 1))
        } else {
            String::new()
        };
        format!(
            r##"<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title} - Fixture Docs</title>
<meta name="description" content="What there is to know about {title}.">
<link rel="stylesheet" href="/style.css"></head>
<body>
<header><a href="/">Fixture Docs</a> <a href="mailto:docs@site.test">Write to us</a></header>
<nav><ul>
{navigation}</ul></nav>
<aside><ul>
{siblings}</ul></aside>
<main id="top">
<h1>{title}</h1>
<p>{title} explains step number {number} in a paragraph that is long enough to count as content: it has a
<strong>bold claim</strong>, a <em>softer one</em>, and <code>inline_code_{number}()</code>.</p>
<h2>Example</h2>
<pre><code class="language-rust">fn example_{number}() -&gt; usize {{
    {number} + 1
}}
</code></pre>
<h2>Values</h2>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead>
<tbody><tr><td>number</td><td>{number}</td></tr><tr><td>square</td><td>{square}</td></tr></tbody></table>
<p>{previous} {next}</p>
</main>
<footer>Generated for tests.</footer>
</body></html>
"##,
            square = number * number,
        )
    }
}

fn path(number: usize) -> String {
    match (number, number / PAGES_PER_SECTION, number % PAGES_PER_SECTION) {
        (0, _, _) => "/".to_owned(),
        (_, section, 0) => format!("/section-{section}/"),
        (_, section, page) => format!("/section-{section}/page-{page}"),
    }
}

fn title(number: usize) -> String {
    match (number, number % PAGES_PER_SECTION) {
        (0, _) => "Welcome".to_owned(),
        (_, 0) => format!("Section {}", number / PAGES_PER_SECTION),
        _ => format!("Topic {number}"),
    }
}

fn wrap(list: &str, item: &str, paths: &[String]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{list} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
    );
    for path in paths {
        let _ = writeln!(xml, "<{item}><loc>{{base}}{path}</loc></{item}>");
    }
    let _ = writeln!(xml, "</{list}>");
    xml
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn paths_are_distinct_and_linked() {
        let docs = DocsSite::new(95);
        let paths = docs.paths();
        assert_eq!(paths.iter().collect::<HashSet<_>>().len(), 95);
        let linked: HashSet<String> = (0..95)
            .flat_map(|number| {
                let html = docs.html(number);
                let links: Vec<String> = html
                    .split("href=\"")
                    .skip(1)
                    .filter_map(|rest| rest.split(['"', '#']).next().map(str::to_owned))
                    .collect();
                links
            })
            .collect();
        assert!(paths.iter().all(|path| linked.contains(path)));
    }
}
