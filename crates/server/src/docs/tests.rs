use super::*;

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
