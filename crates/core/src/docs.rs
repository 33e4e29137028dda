//! Full-text search of the documentation (docs/API.md section 6.10): Markdown pages are split into sections, and the
//! sections that best match a question are returned as the answer, verbatim. Without a match there is no answer.

mod rank;
mod section;
mod table;
mod terms;

use crate::api::support::Evidence;
use crate::limits::{MAX_DOCS_PASSAGE_CHARS, MAX_DOCS_PASSAGES};

use rank::Index;
pub use section::{Anchors, Section, page_link};

/// The answer when no section matches.
pub const NO_MATCH: &str = "The documentation of this server does not cover that. Rephrase the question, for example \
    with the name of an endpoint or option, or see the list of pages at /docs.";

/// Minimum score of a passage as a fraction of the best score.
const MIN_SCORE_RATIO: f64 = 0.55;

/// The pages of the documentation, indexed.
#[derive(Clone, Debug)]
pub struct Docs {
    sections: Vec<Section>,
    index: Index,
}

/// A section that matches a question.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchHit<'d> {
    /// The section.
    pub section: &'d Section,
    /// Match score; higher is better.
    pub score: f64,
    /// Words of the question that the section contains, as written in the question.
    pub words: Vec<String>,
}

impl Docs {
    /// Indexes pages given as name and Markdown. The name is part of the page's URL.
    pub fn of<'p>(pages: impl IntoIterator<Item = (&'p str, &'p str)>) -> Docs {
        let sections: Vec<Section> = pages
            .into_iter()
            .flat_map(|(name, markdown)| section::sections(name, markdown))
            .collect();
        let index = Index::of(&sections);
        Docs { sections, index }
    }

    /// Returns the sections that match a question, best first.
    pub fn search(&self, question: &str) -> Vec<SearchHit<'_>> {
        let ranked = self.index.rank(question);
        let found = ranked.into_iter().map(|hit| SearchHit {
            section: &self.sections[hit.section],
            score: hit.score,
            words: hit.words,
        });
        found.collect()
    }
}

/// Returns the leading results that are good enough for an answer.
pub fn passages<'f, 'd>(found: &'f [SearchHit<'d>]) -> &'f [SearchHit<'d>] {
    let best = found.first().map_or(0.0, |first| first.score);
    let good = found
        .iter()
        .take(MAX_DOCS_PASSAGES)
        .take_while(|hit| hit.score >= best * MIN_SCORE_RATIO);
    &found[..good.count()]
}

/// Returns the answer without a model: the passages themselves, with only the matching rows of long tables. `base` is
/// the server's URL without a trailing slash.
pub fn answer(found: &[SearchHit<'_>], base: &str) -> String {
    if found.is_empty() {
        return NO_MATCH.to_owned();
    }
    let passages = found.iter().map(|hit| {
        let text = table::with_matching_rows(&hit.section.text, &hit.words);
        let end = text.char_indices().nth(MAX_DOCS_PASSAGE_CHARS).map(|(at, _)| at);
        // Cut at a line end, so that no table row or link is broken.
        let text = end.map_or(text.as_str(), |end| {
            let end = text[..end].rfind('\n').unwrap_or(end);
            text[..end].trim_end()
        });
        let text = section::with_urls(text, base);
        format!("**{}**\n\n{text}", hit.section.name())
    });
    passages.collect::<Vec<_>>().join("\n\n")
}

/// Returns the sources of an answer. `base` is the server's URL without a trailing slash.
pub fn evidence(found: &[SearchHit<'_>], base: &str) -> Vec<Evidence> {
    let evidence = found.iter().map(|hit| Evidence {
        path_or_url: hit.section.url(base),
        reason: format!(
            "“{}” mentions {}",
            hit.section.name(),
            hit.words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    });
    evidence.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRAWL: &str = "# Crawl\n\nFollows links and collects the pages of a site.\n\n\
        ## How many pages\n\n`limit` bounds the pages of a crawl, 10000 unless given.\n\n\
        ## How deep\n\n`maxDiscoveryDepth` bounds how many links lead to a page.\n";
    const MAP: &str =
        "# Map\n\nLists the addresses of a site without fetching them.\n\n```sh\n# no heading\n```\n";

    fn docs() -> Docs {
        Docs::of([("crawl", CRAWL), ("map", MAP)])
    }

    #[track_caller]
    fn check(question: &str, expected: &str) {
        let docs = docs();
        let found = docs.search(question);
        assert_eq!(
            found.first().map(|found| found.section.url("")),
            Some(expected.to_owned()),
            "{question}"
        );
    }

    #[test]
    fn a_question_finds_its_section() {
        check(
            "How do I bound the number of pages?",
            "/docs/crawl#how-many-pages",
        );
        check("discovery depth", "/docs/crawl#how-deep");
        check("list all addresses", "/docs/map");
        check("what is maxDiscoveryDepth?", "/docs/crawl#how-deep");
    }

    #[test]
    fn questions_beyond_the_pages_are_not_answered() {
        for question in [
            "How do I bake bread?",
            "?",
            "the of and",
            "Which pages of Shakespeare rhyme best in Danish?",
        ] {
            let docs = docs();
            let found = docs.search(question);
            assert!(found.is_empty(), "{question}: {found:?}");
            assert_eq!(answer(&found, ""), NO_MATCH);
            assert!(evidence(&found, "http://a.test").is_empty());
        }
    }

    #[test]
    fn an_answer_quotes_its_sources() {
        let docs = docs();
        let found = docs.search("how deep does it go");
        let found = passages(&found);
        assert!(
            answer(found, "").starts_with("**Crawl › How deep**\n\n`maxDiscoveryDepth` bounds"),
            "{}",
            answer(found, "")
        );
        let evidence = evidence(found, "http://a.test");
        assert_eq!(evidence[0].path_or_url, "http://a.test/docs/crawl#how-deep");
        assert!(evidence[0].reason.contains("`deep`"), "{evidence:?}");
    }

    #[test]
    fn long_passages_are_cut_at_line_ends() {
        let long = format!("# Long\n\n{}", "herons stand in water\n".repeat(1000));
        let docs = Docs::of([("long", long.as_str())]);
        let answer = answer(&docs.search("herons"), "");
        assert!(answer.ends_with("herons stand in water"), "{answer}");
        assert!(answer.chars().count() < MAX_DOCS_PASSAGE_CHARS + 100);
    }
}
