//! Writes the training input of `score/train.py`. Reads pages as JSON lines (`id`, `url`, `html`) from
//! standard input and writes text and features of their blocks as JSON lines (`id`, `blocks`).

use std::io::{BufRead, BufWriter, Write};

use harvestman_content::HtmlPage;
use serde_json::{Value, json};
use url::Url;

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let page: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| page[key].as_str().unwrap_or_default();
        let Ok(url) = Url::parse(text("url")) else {
            continue;
        };
        let blocks = HtmlPage::parse(text("html"), &url).samples();
        serde_json::to_writer(&mut out, &json!({"id": page["id"], "blocks": blocks}))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
