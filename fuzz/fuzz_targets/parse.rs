//! Parsing of HTML and everything that is extracted from a page. The first line is a selector.
#![no_main]

use harvestman_content::{HtmlPage, Selection, Selector};
use libfuzzer_sys::fuzz_target;
use url::Url;

/// The output is at most this multiple of the input plus a fixed slack.
const FACTOR: usize = 16;
const SLACK_BYTES: usize = 2 * 1024 * 1024;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (selector, html) = text.split_once('\n').unwrap_or(("a[href]", &text));
    let url = Url::parse("https://site.test/a/b?c=d#e").expect("it is a URL");
    let page = HtmlPage::parse(html, &url);
    let most = html.len() * FACTOR + SLACK_BYTES;

    for link in page.links().iter().chain(&page.links_with_fragments()) {
        assert!(
            link.starts_with("http://") || link.starts_with("https://"),
            "{link}"
        );
    }
    page.crawl_links();
    page.images();
    page.metadata();
    page.render_signals(usize::MAX);
    page.redirect();
    let _ = page.attributes(selector, "href");

    let chosen: Vec<Selector> = Selector::parse(selector).into_iter().collect();
    for only_main_content in [false, true] {
        for (include_tags, exclude_tags) in [
            (Vec::new(), Vec::new()),
            (chosen.clone(), Vec::new()),
            (Vec::new(), chosen.clone()),
        ] {
            let selection = Selection {
                only_main_content,
                include_tags,
                exclude_tags,
                remove_base64_images: only_main_content,
                remove_consent: only_main_content,
            };
            let content = page.convert(&selection);
            assert!(content.markdown().len() <= most);
            assert!(content.html().len() <= most);
        }
    }
});
