//! Compares the pages of two jobs by URL, for the console.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::api::console::{ComparedPage, ComparisonCounts, PageChange};

/// The properties of a page that a comparison uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageDigest {
    /// URL of the page.
    pub url: String,
    /// Title; may be empty.
    pub title: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// Hash of the content.
    pub content: u64,
}

/// Returns the hash used to compare contents. It may change between versions of this program.
pub fn content_hash(content: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

/// Returns the number of pages for each kind of change, and the first `limit` pages that differ: changed, then
/// added, then removed, each in order of completion.
pub fn compare(
    before: &[PageDigest],
    after: &[PageDigest],
    limit: usize,
) -> (ComparisonCounts, Vec<ComparedPage>) {
    let mut old: HashMap<&str, usize> = HashMap::with_capacity(before.len());
    for (index, page) in before.iter().enumerate() {
        old.entry(&page.url).or_insert(index);
    }
    let mut counts = ComparisonCounts::default();
    let (mut changed, mut added) = (Vec::new(), Vec::new());
    for (index, page) in after.iter().enumerate() {
        let previous = old.remove(page.url.as_str());
        match previous.map(|at| (at, &before[at])) {
            None => {
                counts.added += 1;
                added.push(compared(PageChange::Added, page, None, Some(index)));
            }
            Some((_, old)) if (old.content, old.status) == (page.content, page.status) => {
                counts.unchanged += 1
            }
            Some((at, _)) => {
                counts.changed += 1;
                changed.push(compared(PageChange::Changed, page, Some(at), Some(index)));
            }
        }
    }
    let mut removed: Vec<usize> = old.into_values().collect();
    removed.sort_unstable();
    counts.removed = removed.len() as u64;
    let removed = removed
        .into_iter()
        .map(|at| compared(PageChange::Removed, &before[at], Some(at), None));
    let pages = changed.into_iter().chain(added).chain(removed).take(limit);
    (counts, pages.collect())
}

fn compared(
    change: PageChange,
    page: &PageDigest,
    before: Option<usize>,
    after: Option<usize>,
) -> ComparedPage {
    ComparedPage {
        change,
        url: page.url.clone(),
        title: page.title.clone(),
        before: before.map(|index| index as u64),
        after: after.map(|index| index as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, content: u64) -> PageDigest {
        PageDigest {
            url: url.to_owned(),
            title: String::new(),
            status: Some(200),
            content,
        }
    }

    #[test]
    fn pages_are_compared_by_url() {
        let before = [
            page("https://e.com/", 1),
            page("https://e.com/old", 2),
            page("https://e.com/a", 3),
        ];
        let after = [
            page("https://e.com/a", 4),
            page("https://e.com/new", 5),
            page("https://e.com/", 1),
        ];
        let (counts, pages) = compare(&before, &after, 10);
        let expected = ComparisonCounts {
            added: 1,
            removed: 1,
            changed: 1,
            unchanged: 1,
        };
        assert_eq!(counts, expected);
        let pages: Vec<_> = pages
            .iter()
            .map(|page| (page.change, page.url.as_str(), page.before, page.after))
            .collect();
        let expected = [
            (PageChange::Changed, "https://e.com/a", Some(2), Some(0)),
            (PageChange::Added, "https://e.com/new", None, Some(1)),
            (PageChange::Removed, "https://e.com/old", Some(1), None),
        ];
        assert_eq!(pages, expected);
    }

    #[test]
    fn the_list_is_cut_but_the_counts_are_not() {
        let after: Vec<_> = (0..5)
            .map(|at| page(&format!("https://e.com/{at}"), at))
            .collect();
        let (counts, pages) = compare(&[], &after, 2);
        assert_eq!((counts.added, pages.len()), (5, 2));
    }

    #[test]
    fn another_status_is_a_change() {
        let gone = PageDigest {
            status: Some(404),
            ..page("https://e.com/a", 1)
        };
        assert_eq!(compare(&[page("https://e.com/a", 1)], &[gone], 9).0.changed, 1);
    }
}
