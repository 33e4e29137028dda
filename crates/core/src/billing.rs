//! Prices in whole credits (docs/API.md section 18). A failed fetch and a page blocked by robots.txt cost
//! nothing; [`crate::crawl`] enforces that when it settles a page.

use crate::api::format::{ChangeMode, Format};
use crate::api::options::ScrapeOptions;
use crate::time::Timestamp;

/// Tokens per credit.
pub const TOKENS_PER_CREDIT: u64 = 15;
/// Price of a map.
pub const MAP_CREDITS: u32 = 1;
/// Number of search results that one search price covers.
const SEARCH_RESULTS: u64 = 10;
/// Price of each started group of [`SEARCH_RESULTS`].
const SEARCH_CREDITS: u64 = 2;
/// Base price of a page.
const PAGE_CREDITS: u32 = 1;
/// Surcharge for formats that need a model, once per page; also the price of each model pass of an
/// extract or agent.
pub const MODEL_CREDITS: u32 = 4;
/// Price of a browser session per minute.
const BROWSER_CREDITS_PER_MINUTE: u64 = 2;

/// Converts credits to tokens.
pub fn tokens(credits: u64) -> u64 {
    credits.saturating_mul(TOKENS_PER_CREDIT)
}

/// Returns the price of a scraped page, from the cache or not. `document_pages` is the number of
/// pages that a document parser converted, 1 for anything else.
pub fn page(options: &ScrapeOptions, document_pages: u32) -> u32 {
    let model = match options.formats.iter().any(uses_model) {
        true => MODEL_CREDITS,
        false => 0,
    };
    PAGE_CREDITS
        .saturating_add(document_pages.saturating_sub(1))
        .saturating_add(model)
}

fn uses_model(format: &Format) -> bool {
    match format {
        Format::Json(_) | Format::Question { .. } | Format::Query { .. } | Format::Summary => true,
        Format::ChangeTracking(tracking) => tracking.modes.contains(&ChangeMode::Json),
        Format::Markdown
        | Format::Html
        | Format::RawHtml
        | Format::Links
        | Format::Images
        | Format::Screenshot(_)
        | Format::Attributes { .. }
        | Format::Branding
        | Format::Product
        | Format::Menu
        | Format::RawBase64
        | Format::Highlights { .. } => false,
    }
}

/// Returns the price of a page whose formats need a model when no model was called.
pub fn without_model(credits: u32) -> u32 {
    credits.saturating_sub(MODEL_CREDITS)
}

/// Returns the price of a search, without the pages scraped for it.
pub fn search(results: u64) -> u64 {
    results.div_ceil(SEARCH_RESULTS).saturating_mul(SEARCH_CREDITS)
}

/// Returns the price of a browser session, prorated by the second and rounded up to a whole credit.
pub fn browser_session(started: Timestamp, ended: Timestamp) -> u64 {
    let seconds = ended.millis_since(started).div_ceil(1000);
    seconds.saturating_mul(BROWSER_CREDITS_PER_MINUTE).div_ceil(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cost_by_formats_and_document_pages() {
        let check = |formats: &str, document_pages, expected| {
            let options = ScrapeOptions::from_json(format!(r#"{{"formats":{formats}}}"#).as_bytes()).unwrap();
            assert_eq!(page(&options, document_pages), expected, "{formats}");
        };
        check(r#"["markdown"]"#, 1, 1);
        check("[]", 0, 1);
        check(r#"["markdown"]"#, 12, 12);
        check(r#"["summary", {"type":"json","prompt":"x"}]"#, 1, 5);
        check(r#"["markdown", "changeTracking"]"#, 1, 1);
        check(
            r#"["markdown", {"type":"changeTracking","modes":["json"]}]"#,
            3,
            7,
        );
        check(r#"[{"type":"highlights","query":"x"}]"#, 1, 1);
    }

    #[test]
    fn sessions_are_prorated_by_the_second() {
        let check = |millis: u64, expected| {
            assert_eq!(
                browser_session(Timestamp(5), Timestamp(5 + millis)),
                expected,
                "{millis} ms"
            );
        };
        check(0, 0);
        check(1, 1);
        check(30_000, 1);
        check(30_001, 2);
        check(60_000, 2);
        check(90_000, 3);
        check(600_000, 20);
        assert_eq!(browser_session(Timestamp(9), Timestamp(5)), 0);
    }

    #[test]
    fn searches_cost_per_started_ten() {
        assert_eq!([0, 1, 10, 11, 100].map(search), [0, 2, 2, 4, 20]);
        assert_eq!(tokens(7), 105);
    }
}
