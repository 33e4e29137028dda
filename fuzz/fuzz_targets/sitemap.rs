//! Parsing of sitemaps: the result contains only http and https URLs.
#![no_main]

use harvestman_core::sitemap::Sitemap;
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|data: &[u8]| {
    let url = Url::parse("https://site.test/sitemap.xml").expect("it is a URL");
    let Some(sitemap) = Sitemap::parse(data, &url) else {
        return;
    };
    for found in sitemap.pages.iter().chain(&sitemap.children) {
        assert!(matches!(found.scheme(), "http" | "https"), "{found}");
    }
});
