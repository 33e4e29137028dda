//! The shared URL cases: how a link resolves, or that it is skipped.
#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_core::url_key::resolve_link;
use serde_json::Value;
use url::Url;

#[test]
fn links_resolve_as_in_the_shared_cases() {
    let file: Value = serde_json::from_str(include_str!("data/url-cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let base = Url::parse(case["base"].as_str().unwrap()).unwrap();
        let href = case["href"].as_str().unwrap();
        let found = resolve_link(&base, href).map(String::from);
        if found.as_deref() != case["url"].as_str() {
            wrong.push(format!("{}: {href:?} gave {found:?}", case["id"]));
        }
    }
    assert!(cases.len() >= 64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
