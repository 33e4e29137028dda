//! The parser compared with html5ever: both build the same tree from the pages of the tests.

#[path = "reference/tree.rs"]
mod reference;

use std::fs;
use std::path::Path;

use harvestman_content::HtmlPage;
use url::Url;

#[test]
fn pages_have_the_tree_that_html5ever_builds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut pages = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let html = fs::read_to_string(&path).unwrap();
        let page = HtmlPage::parse(&html, &Url::parse("https://site.test/").unwrap());
        assert!(!page.truncated());
        let (found, expected) = (page.outline(), reference::outline(&html));
        let differs = found.iter().zip(&expected).position(|(one, other)| one != other);
        if let Some(at) = differs {
            panic!(
                "{}: {:?} instead of {:?}",
                path.display(),
                found[at],
                expected[at]
            );
        }
        assert_eq!(found.len(), expected.len(), "{}", path.display());
        pages += 1;
    }
    assert!(pages > 10, "{pages} pages");
}
