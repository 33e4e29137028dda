use std::collections::{HashMap, HashSet};

use super::*;

/// Returns the values of an attribute in rendered HTML.
fn attribute<'h>(html: &'h str, mark: &str) -> Vec<&'h str> {
    html.split(mark)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

#[test]
fn every_guide_is_a_page() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".md").unwrap();
        assert!(
            PAGES.iter().any(|page| page.name == name),
            "{name} is not in the list of pages"
        );
    }
}

#[test]
fn every_link_between_pages_has_a_target() {
    let pages: HashMap<&str, String> = PAGES
        .iter()
        .map(|one| (one.name, page(one.name).unwrap()))
        .collect();
    let anchors: HashMap<&str, HashSet<&str>> = pages
        .iter()
        .map(|(name, html)| (*name, attribute(html, " id=\"").into_iter().collect()))
        .collect();
    for (name, html) in &pages {
        for link in attribute(html, "href=\"") {
            if link.contains("://") || link == "../docs" {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { name } else { target };
            let known = anchors
                .get(target)
                .unwrap_or_else(|| panic!("{name} links to `{link}`, which is not a page"));
            assert!(
                anchor.is_empty() || known.contains(anchor),
                "{name} links to `{link}`, which is not a heading: {known:?}"
            );
        }
    }
}

#[test]
fn evidence_links_to_an_anchor_of_its_page() {
    for found in docs().search("crawl scrape page session webhook key credits search file cache limit") {
        let address = found.section.url("");
        let (path, anchor) = address.split_once('#').unwrap_or((&address, ""));
        let html = page(path.strip_prefix("/docs/").unwrap()).unwrap();
        assert!(
            anchor.is_empty() || html.contains(&format!(" id=\"{anchor}\"")),
            "{address}"
        );
    }
}

#[test]
fn a_question_is_escaped() {
    let html = index(Some("<script>alert(1)</script>\"onx=\""));
    assert!(!html.contains("<script>") && !html.contains("\"onx"), "{html}");
    assert!(index(Some("how do I cancel a crawl")).contains("href=\"docs/crawl"));
    assert!(index(None).contains("href=\"docs/webhooks\""));
    assert!(page("nothing").is_none());
}
