//! Compares blocks with the description that a page gives of itself: it is often the first paragraph.

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// Number of characters that are compared with the description.
const DESCRIBED_CHARS: usize = 40;

/// Returns the description of a page in lower case: the longest of its `meta` elements.
pub(super) fn of_page(dom: &Dom) -> String {
    let is = |n: NodeId| {
        let named = |name| {
            dom.attr(n, name).is_some_and(|value| {
                value.eq_ignore_ascii_case("description") || value.eq_ignore_ascii_case("og:description")
            })
        };
        named(attr::NAME) || named(attr::PROPERTY)
    };
    let contents = dom
        .all(Tag::Meta)
        .filter(|&n| is(n))
        .filter_map(|n| dom.attr(n, attr::CONTENT));
    let longest = contents.max_by_key(|content| content.len()).unwrap_or_default();
    collapse(longest).to_lowercase()
}

/// Returns true when the description of the page and a text start alike, or one contains the start of the other.
pub(super) fn is_described(description: &str, text: &str) -> bool {
    let prefix = |text: &str| {
        text.chars()
            .take(DESCRIBED_CHARS)
            .map(char::len_utf8)
            .sum::<usize>()
    };
    let (a, b) = (prefix(description), prefix(text));
    text.len() >= 20
        && description.len() >= 20
        && (description.contains(&text[..b]) || text.contains(&description[..a]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_and_a_description_that_start_alike_match() {
        let page = "<meta name=Description content='short'><meta property=og:description \
                    content='The harbour was closed for three days after the storm, and'>";
        let description = of_page(&crate::html::parse::parse(page));
        assert!(is_described(
            &description,
            "the harbour was closed for three days after the storm."
        ));
        assert!(!is_described(
            &description,
            "the harbour was open on monday, said the mayor of it"
        ));
        assert!(!is_described(&description, "the harbour"));
        assert!(!is_described("", "the harbour was closed for three days after"));
    }
}
