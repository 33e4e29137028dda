//! Extracts the main content of pages with another library, for `cargo xtask score --peers`. The argument names the
//! library. Reads JSON lines (`id`, `url`, `html`) and writes JSON lines (`id`, `markdown`).

use std::io::{BufRead, Write};

use dom_smoothie::{Config, Readability, TextMode};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let library = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let page: Value = serde_json::from_str(&line?)?;
        let (html, url) = (page["html"].as_str().unwrap_or(""), page["url"].as_str());
        let markdown = match library.as_str() {
            "dom_smoothie" => dom_smoothie(html, url),
            // Its Markdown scores lower than its text.
            "rs-trafilatura" => rs_trafilatura::extract(html).ok().map(|result| result.content_text),
            _ => panic!("give a library: dom_smoothie, rs-trafilatura"),
        };
        writeln!(out, "{}", json!({"id": page["id"], "markdown": markdown.unwrap_or_default()}))?;
    }
    Ok(())
}

fn dom_smoothie(html: &str, url: Option<&str>) -> Option<String> {
    let config = Config {
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let article = Readability::new(html, url, Some(config)).ok()?.parse().ok()?;
    Some(article.text_content.to_string())
}
