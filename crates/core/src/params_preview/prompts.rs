//! Realistic prompts with the options that they mean for a crawl of `https://site.test/`.

use serde_json::{Value, json};

use super::tests::preview;

/// Prompts that the rules misread, at most 10. Patterns of one list are alternatives, so a section in one language
/// cannot be expressed by the rules.
const KNOWN_MISSES: &[&str] = &["English docs only"];

const BLOG: &str = "/blogs?(/|$)";
const DOCS: &str = "/(docs?|documentation)(/|$)";
const LANGUAGE: &str = "([-_][a-zA-Z]{2})?(/|$)";

/// Includes the start page, which is always in scope.
fn include(patterns: &[&str]) -> Value {
    let mut all = vec!["^/?$".to_owned()];
    all.extend(patterns.iter().map(|pattern| (*pattern).to_owned()));
    json!(all)
}

#[rustfmt::skip]
fn prompts() -> Vec<(&'static str, Value)> {
    let (de, fr, es) = (
        format!("^/de{LANGUAGE}"),
        format!("^/fr{LANGUAGE}"),
        format!("^/es{LANGUAGE}"),
    );
    vec![
        ("Crawl the whole site", json!({"crawlEntireDomain": true})),
        ("Get me all blog posts", json!({"includePaths": include(&[BLOG])})),
        ("Only the documentation, please", json!({"includePaths": include(&[DOCS])})),
        ("I need the first 100 pages", json!({"limit": 100})),
        (
            "Crawl up to 500 pages but don't go deeper than 3 levels",
            json!({"limit": 500, "maxDiscoveryDepth": 3}),
        ),
        ("Just this page and everything it links to directly", json!({"maxDiscoveryDepth": 1})),
        ("everything under /docs", json!({"includePaths": include(&["^/docs(/|$)"])})),
        (
            "everything under /guide except /guide/old",
            json!({"includePaths": include(&["^/guide(/|$)"]), "excludePaths": ["^/guide/old(/|$)"]}),
        ),
        (
            "Don't crawl anything in /admin or /internal",
            json!({"excludePaths": ["^/admin(/|$)", "^/internal(/|$)"]}),
        ),
        (
            "Scrape the product pages, skip reviews",
            json!({"includePaths": include(&["/products?(/|$)"]), "excludePaths": ["/reviews?(/|$)"]}),
        ),
        ("Include subdomains", json!({"allowSubdomains": true})),
        ("Stay on this host, no subdomains", json!({"allowSubdomains": false})),
        ("Follow external links too", json!({"allowExternalLinks": true})),
        ("Do not follow links that leave the site", json!({"allowExternalLinks": false})),
        ("Use only the sitemap", json!({"sitemap": "only"})),
        ("Ignore the sitemap", json!({"sitemap": "skip"})),
        ("Wait 3 seconds between pages", json!({"delay": 3})),
        ("One request every 2 seconds, at most 50 pages", json!({"delay": 2, "limit": 50})),
        ("Treat URLs with different query strings as the same page", json!({"ignoreQueryParameters": true})),
        ("ignore query parameters", json!({"ignoreQueryParameters": true})),
        ("Only the German pages", json!({"includePaths": include(&[&de])})),
        ("Skip the French and Spanish versions", json!({"excludePaths": [fr, es]})),
        (
            "English docs only",
            json!({"includePaths": include(&["^/en([-_][a-zA-Z]{2})?/(.*/)?(docs?|documentation)(/|$)"])}),
        ),
        (
            "Blog articles only, no tag or category pages, max 200",
            json!({"includePaths": include(&[BLOG]), "excludePaths": ["/tags?(/|$)", "/categor(y|ies)(/|$)"], "limit": 200}),
        ),
        (
            "Find all pricing and contact pages",
            json!({"includePaths": include(&["/pricing(/|$)", "/contacts?(/|$)"])}),
        ),
        (
            "The API reference, two levels deep",
            json!({"includePaths": include(&["/api(/|$)", "/reference(/|$)"]), "maxDiscoveryDepth": 2}),
        ),
        (
            "Get 20 articles from the news section",
            json!({"includePaths": include(&["/news(/|$)"]), "limit": 20}),
        ),
        ("Only the home page", json!({"limit": 1})),
        ("No more than 10 pages", json!({"limit": 10})),
        ("crawl a thousand pages", json!({"limit": 1000})),
        ("Crawl 2,500 URLs", json!({"limit": 2500})),
        ("5k pages max", json!({"limit": 5000})),
        ("Pages below /en/products/ only", json!({"includePaths": include(&["^/en/products(/|$)"])})),
        ("exclude everything with /archive/ in the path", json!({"excludePaths": ["/archive(/|$)"]})),
        ("Please skip login and signup pages", json!({"excludePaths": ["/login(/|$)", "/signup(/|$)"]})),
        ("All recipes", json!({"includePaths": include(&["/recipes?(/|$)"])})),
        ("The changelog", json!({"includePaths": include(&["/changelogs?(/|$)"])})),
        (
            "Get the careers pages and the about page",
            json!({"includePaths": include(&["/careers?(/|$)", "/about(/|$)"])}),
        ),
        ("Follow links up to four clicks away", json!({"maxDiscoveryDepth": 4})),
        ("don't go into the forum", json!({"excludePaths": ["/forums?(/|$)"]})),
        (
            "Crawl the entire domain including subdomains, 1000 pages at most",
            json!({"crawlEntireDomain": true, "allowSubdomains": true, "limit": 1000}),
        ),
        ("Crawl shop.site.test as well", json!({"allowSubdomains": true})),
        ("Ignore robots.txt", json!({"ignoreRobotsTxt": true})),
        ("Be gentle: 10 seconds between requests", json!({"delay": 10})),
        ("Download all PDFs", json!({"includePaths": include(&["\\.pdf$"])})),
        ("Only pages about pricing", json!({"includePaths": include(&["/pricing(/|$)"])})),
        ("Only HTML pages from the handbook folder", json!({"includePaths": include(&["/handbook(/|$)"])})),
        (
            "Crawl https://site.test/guide and https://site.test/faq",
            json!({"includePaths": include(&["^/guide(/|$)", "^/faq(/|$)"])}),
        ),
        (
            "max depth 5, limit 50, sitemap skip",
            json!({"maxDiscoveryDepth": 5, "limit": 50, "sitemap": "skip"}),
        ),
        ("Crawl blog posts from 2024", json!({"includePaths": include(&[BLOG])})),
        ("Everything but the blog", json!({"excludePaths": [BLOG]})),
        ("Nothing outside /support", json!({"includePaths": include(&["^/support(/|$)"])})),
        (
            "Do not include any pages under /tags/ or /author/",
            json!({"excludePaths": ["^/tags(/|$)", "^/author(/|$)"]}),
        ),
        (
            "Get the docs but leave out the release notes",
            json!({"includePaths": include(&[DOCS]), "excludePaths": ["/release-?notes(/|$)"]}),
        ),
        ("Hundred pages, stay under /wiki", json!({"includePaths": include(&["^/wiki(/|$)"]), "limit": 100})),
        ("Limit the crawl to 15 pages and three levels", json!({"limit": 15, "maxDiscoveryDepth": 3})),
        (
            "scrape every page of the online shop, without the cart and checkout",
            json!({"includePaths": include(&["/shop(/|$)"]), "excludePaths": ["/cart(/|$)", "/checkout(/|$)"]}),
        ),
        ("Do 40 pages with a half second pause", json!({"limit": 40, "delay": 1})),
        (
            "All tutorials and guides, at most 3 clicks from here",
            json!({"includePaths": include(&["/tutorials?(/|$)", "/guides?(/|$)"]), "maxDiscoveryDepth": 3}),
        ),
        (
            "Everything in the press section up to depth 2",
            json!({"includePaths": include(&["/press(/|$)"]), "maxDiscoveryDepth": 2}),
        ),
    ]
}

#[test]
fn prompts_yield_the_options_that_they_mean() {
    let prompts = prompts();
    assert_eq!(prompts.len(), 60);
    let mut missed = Vec::new();
    for (prompt, expected) in &prompts {
        let mut found = serde_json::to_value(preview("https://site.test/", prompt).data).unwrap();
        found.as_object_mut().unwrap().remove("url");
        if found != *expected {
            missed.push(*prompt);
            println!("missed: {prompt}\n   expected: {expected}\n   found:    {found}");
        }
    }
    println!(
        "{} of {} prompts yield the expected options",
        prompts.len() - missed.len(),
        prompts.len()
    );
    assert_eq!(missed, KNOWN_MISSES);
    assert!(KNOWN_MISSES.len() <= 10);
}
