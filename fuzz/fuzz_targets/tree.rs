//! The tree of a page compared with the one that html5ever builds.
#![no_main]

#[path = "../../crates/content/tests/reference/tree.rs"]
mod reference;

use harvestman_content::HtmlPage;
use libfuzzer_sys::fuzz_target;
use url::Url;

/// Markup for which the trees differ on purpose: html5ever treats fewer elements as special or as bounds of a
/// scope, copies the selected option, knows one public id less, keeps declarative shadow roots as they are, and ignores
/// the next part of a table while a `thead` is open in a template.
const DIFFERENT: &[&str] = &[
    "annotation-xml", "<svg", "<math", "search", "keygen", "selectedcontent", "silmaril", "shadowrootmode",
    "<thead",
];
/// Pages with more tags may reach the limits of depth.
const TAGS: usize = 60;

fuzz_target!(|data: &[u8]| {
    let html = String::from_utf8_lossy(data);
    let lower = html.to_lowercase();
    // html5ever ignores a late doctype; by the standard it ends the text of a table.
    let has_late_doctype = lower.rfind("<!doctype").is_some_and(|at| at > 0);
    let is_different = has_late_doctype || DIFFERENT.iter().any(|markup| lower.contains(markup));
    if is_different || html.matches('<').count() > TAGS {
        return;
    }
    let page = HtmlPage::parse(&html, &Url::parse("https://site.test/").expect("it is a URL"));
    assert_eq!(page.outline(), reference::outline(&html));
});
