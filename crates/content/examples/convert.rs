//! Converts pages. Reads JSON lines (`id`, `url`, `html`) from standard input and writes JSON lines (`id`,
//! `markdown`, `links`, `metadata`). Options: `--main` only the main content; `--fragments` keep the
//! fragments of links; `--html` add the cleaned HTML; `--time` add the milliseconds taken; `--trees FILE`
//! choose the main content with these trees.

use std::io::{BufRead, BufWriter, Write};

use harvestman_content::{HtmlPage, MetadataValue, Selection};
use serde_json::{Map, Value, json};
use url::Url;

fn main() -> std::io::Result<()> {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    if let Some(at) = flags.iter().position(|flag| flag == "--trees") {
        let file = flags.get(at + 1).map_or("", String::as_str);
        assert!(HtmlPage::replace_trees(&std::fs::read(file)?), "trees are in use");
    }
    let selection = Selection {
        only_main_content: has("--main"),
        remove_base64_images: true,
        ..Selection::default()
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let page: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| page[key].as_str().unwrap_or_default();
        let Ok(url) = Url::parse(text("url")) else {
            continue;
        };
        let start = std::time::Instant::now();
        let parsed = HtmlPage::parse(text("html"), &url);
        let content = parsed.convert(&selection);
        let markdown = content.markdown();
        let links = if has("--fragments") {
            parsed.links_with_fragments()
        } else {
            parsed.links()
        };
        let meta = parsed.metadata();
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let mut metadata = Map::new();
        metadata.insert("title".into(), json!(meta.title));
        metadata.insert("description".into(), json!(meta.description));
        metadata.insert("language".into(), json!(meta.language));
        if !meta.og_locale_alternate.is_empty() {
            metadata.insert("ogLocaleAlternate".into(), json!(meta.og_locale_alternate));
        }
        for (key, value) in meta.other {
            let value = match value {
                MetadataValue::Text(text) => json!(text),
                MetadataValue::List(list) => json!(list),
            };
            metadata.insert(key, value);
        }
        let mut result =
            json!({"id": page["id"], "markdown": markdown, "links": links, "metadata": metadata});
        if has("--html") {
            result["html"] = json!(content.html());
        }
        if has("--time") {
            result["ms"] = json!(ms);
        }
        serde_json::to_writer(&mut out, &result)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
