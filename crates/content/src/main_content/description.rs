//! Compares blocks with the description that a page gives of itself: it is often the first paragraph.

use memchr::memmem;

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// Number of characters that are compared with the description.
const DESCRIBED_CHARS: usize = 40;
/// Minimum bytes of texts that are compared.
const MIN_BYTES: usize = 20;

/// The description of a page in lower case.
pub(super) struct Description(String);

impl Description {
    /// Returns true when the description and a text start alike, or one contains the start of the other.
    pub(super) fn matches(&self, text: &str) -> bool {
        let is_long = |text: &str| text.len() >= MIN_BYTES;
        let has = |text: &str, part: &str| memmem::find(text.as_bytes(), part.as_bytes()).is_some();
        is_long(text) && is_long(&self.0) && (has(&self.0, start(text)) || has(text, start(&self.0)))
    }
}

/// Returns the description of a page: the longest of its `meta` elements.
pub(super) fn of_page(dom: &Dom) -> Description {
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
    Description(collapse(longest).to_lowercase())
}

/// Returns the characters of a text that are compared.
fn start(text: &str) -> &str {
    let end = text.char_indices().nth(DESCRIBED_CHARS);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_and_a_description_that_start_alike_match() {
        let page = "<meta name=Description content='short'><meta property=og:description \
                    content='The harbour was closed for three days after the storm, and'>";
        let matches = |page: &str, text: &str| of_page(&crate::html::parse::parse(page)).matches(text);
        for text in [
            "the harbour was closed for three days after the storm.",
            "lead: the harbour was closed for three days after the storm",
            "after the storm, and",
        ] {
            assert!(matches(page, text), "{text}");
        }
        for text in [
            "the harbour was open on monday, said the mayor of it",
            "the harbour",
        ] {
            assert!(!matches(page, text), "{text}");
        }
        assert!(!matches("", "the harbour was closed for three days after"));
    }
}
