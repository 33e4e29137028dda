//! The searchable text of a page, in fields with different weights, and the passage that shows why a page
//! matched.

use percent_encoding::percent_decode_str;
use url::Url;

use super::query::Query;
use crate::limits::{MAX_SEARCH_PASSAGE_CHARS, MAX_SEARCHED_BYTES};
use crate::scrape::highlights::highlights;
use crate::scrape::passages::{Block, Text, for_each_block};

/// The searchable text of a page.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PageText {
    /// Host, with spaces in place of dots.
    pub host: String,
    /// Path as readable words.
    pub path: String,
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
    /// Headings, one per line.
    pub headings: String,
    /// Text of the page.
    pub body: String,
}

impl PageText {
    /// Extracts the text of a page. Takes time linear in the Markdown.
    pub fn of(url: &Url, title: Option<&str>, description: Option<&str>, markdown: &str) -> Self {
        let markdown = cut(markdown, MAX_SEARCHED_BYTES);
        let (mut headings, mut body) = (String::new(), String::with_capacity(markdown.len()));
        for_each_block(markdown, |block| {
            let (field, line) = match block {
                Block::Heading(line) => (&mut headings, line),
                Block::Prose(line) | Block::Row(line) => (&mut body, line),
            };
            if !field.is_empty() && !line.is_empty() {
                field.push('\n');
            }
            field.push_str(line);
        });
        Self {
            host: host_words(url.host_str().unwrap_or_default()),
            path: percent_decode_str(url.path())
                .decode_utf8_lossy()
                .replace(['/', '.', '-', '_'], " "),
            title: title.unwrap_or_default().to_owned(),
            description: description.unwrap_or_default().to_owned(),
            headings,
            body,
        }
    }

    /// Returns the total bytes of all fields.
    pub fn len(&self) -> usize {
        let fields = [
            &self.host, &self.path, &self.title, &self.description, &self.headings, &self.body,
        ];
        fields.into_iter().map(String::len).sum()
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Splits a host into words.
pub(super) fn host_words(host: &str) -> String {
    host.trim_start_matches("*.").replace(['.', '-', '_'], " ")
}

/// Returns what a page says about a query as one line, or `None` if nothing matches.
pub fn passage(markdown: &str, query: &str) -> Option<String> {
    let text = Text::of(cut(markdown, MAX_SEARCHED_BYTES));
    one_line(&highlights(&text, &Query::of(query).terms()))
}

/// Returns the first paragraph of a page as one line.
pub fn opening(markdown: &str) -> Option<String> {
    let text = Text::of(cut(markdown, MAX_SEARCHED_BYTES));
    let first = text.passages.iter().find(|passage| passage.is_prose)?.block;
    let passages = text.passages.iter().filter(|passage| passage.block == first);
    let sentences: Vec<&str> = passages.map(|passage| passage.text.as_str()).collect();
    one_line(&sentences.join(" "))
}

fn one_line(text: &str) -> Option<String> {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_SEARCH_PASSAGE_CHARS) {
        let end = line[..end].rfind(' ').unwrap_or(end);
        line.truncate(end);
        line.push('…');
    }
    (!line.is_empty()).then_some(line)
}

/// Truncates a text at a character boundary.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_url_headings_and_text() {
        let url = Url::parse("https://docs.a.test/how-to/%C3%BCber_us.html?q=1").unwrap();
        let text = PageText::of(
            &url,
            Some("Herons"),
            None,
            "# Grey *herons*\n\nThey [stand](https://b.test/x).",
        );
        assert_eq!(
            (text.host.as_str(), text.path.as_str()),
            ("docs a test", " how to über us html")
        );
        assert_eq!(
            (text.headings.as_str(), text.body.as_str()),
            ("Grey herons", "They stand.")
        );
    }

    #[test]
    fn operators_of_a_query_are_not_words_of_its_passage() {
        let text = "Herons stand in water.\n\nBread is baked in ovens.\n\nSee the test site of example.";
        for query in [
            "herons site:example.test", "herons -bread", "herons -site:example.test", "herons filetype:bread",
        ] {
            assert_eq!(passage(text, query).unwrap(), "Herons stand in water.", "{query}");
        }
        assert_eq!(passage(text, "site:example.test"), None);
    }

    #[test]
    fn a_page_opens_with_its_first_paragraph() {
        let text = "# Herons\n\nHerons stand in *water*.\nThey wait.\n\nOther text.";
        assert_eq!(opening(text).unwrap(), "Herons stand in water. They wait.");
        assert_eq!(opening("# Herons"), None);
    }

    #[test]
    fn a_passage_is_one_line_of_limited_length() {
        let long = format!("# A\n\nHerons {}\n\nOther text.", "stand in water ".repeat(100));
        let found = passage(&long, "herons").unwrap();
        assert!(found.starts_with("Herons stand") && found.ends_with('…') && !found.contains('\n'));
        assert!(found.chars().count() <= MAX_SEARCH_PASSAGE_CHARS + 1);
        assert_eq!(passage(&long, "bread"), None);
        let wide = "ä".repeat(MAX_SEARCHED_BYTES);
        assert!(!PageText::of(&Url::parse("https://a.test/").unwrap(), None, None, &wide).is_empty());
    }
}
