//! The link graph among the pages of one job, for drawing a crawl. The parent of a page is the page where the
//! crawl found it; if that is unknown, the previous page on a shortest path along the links.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::url_key::{Identity, UrlKey};

/// A page and its links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageLinks {
    /// URLs under which other pages may link to it: before and after redirects.
    pub urls: Vec<String>,
    /// URLs that it links to, absolute.
    pub links: Vec<String>,
    /// Index of the page with the first link to it, if known.
    pub found_on: Option<u32>,
}

/// The links among the pages of a job. Pages are identified by their index in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkGraph {
    /// Parent of each page: the page on which it was found or, if unknown, the previous page on a shortest path
    /// from the first page; `None` for a page that no other page leads to. Always a forest, whatever the input.
    pub parents: Vec<Option<u32>>,
    /// Edges as (from, to), without links of a page to itself.
    pub links: Vec<(u32, u32)>,
    /// Whether links were dropped. Edges from parents are always complete.
    pub cut: bool,
}

impl LinkGraph {
    /// Builds the graph with at most `max_other_links` links besides the edges from parents.
    pub fn of(pages: &[PageLinks], max_other_links: usize) -> Self {
        let index_by_url = index_by_url(pages);
        let mut found = vec![Vec::new(); pages.len()];
        for (page, own) in pages.iter().zip(0..) {
            if let Some(found) = page.found_on.and_then(|from| found.get_mut(from as usize)) {
                found.push(own);
            }
        }
        let targets: Vec<Vec<u32>> = pages
            .iter()
            .zip(&found)
            .zip(0..)
            .map(|((page, found), own)| targets(page, own, found, &index_by_url))
            .collect();
        let parents = parents(pages, &targets);
        let is_parent = |from: u32, to: u32| parents[to as usize] == Some(from);
        let all = targets
            .iter()
            .zip(0..)
            .flat_map(|(targets, from)| targets.iter().map(move |to| (from, *to)));
        let mut graph = LinkGraph::default();
        let mut other_links = 0;
        for (from, to) in all {
            let is_parent_edge = is_parent(from, to);
            other_links += usize::from(!is_parent_edge);
            if is_parent_edge || other_links <= max_other_links {
                graph.links.push((from, to));
            }
        }
        graph.cut = other_links > max_other_links;
        graph.parents = parents;
        graph
    }
}

fn key(url: &str) -> Option<UrlKey> {
    Some(UrlKey::of(&Url::parse(url).ok()?, Identity::default()))
}

/// Maps each URL to the first page with it.
fn index_by_url(pages: &[PageLinks]) -> HashMap<UrlKey, u32> {
    let mut index_by_url = HashMap::new();
    for (page, index) in pages.iter().zip(0..) {
        for key in page.urls.iter().filter_map(|url| key(url)) {
            index_by_url.entry(key).or_insert(index);
        }
    }
    index_by_url
}

/// Returns the other pages that a page links to, in the order of its links and without duplicates, followed by the
/// pages that were found on it but that it does not list.
fn targets(page: &PageLinks, own: u32, found: &[u32], index_by_url: &HashMap<UrlKey, u32>) -> Vec<u32> {
    let mut seen = HashSet::from([own]);
    let known = page
        .links
        .iter()
        .filter_map(|link| index_by_url.get(&key(link)?).copied());
    let all = known.chain(found.iter().copied());
    all.filter(|target| seen.insert(*target)).collect()
}

/// Computes parents breadth first from the first page, then from the first page not reached, and so on. A page with
/// a known `found_on` is reached only from that page; it becomes a start only if it was not reached.
fn parents(pages: &[PageLinks], targets: &[Vec<u32>]) -> Vec<Option<u32>> {
    let leads = |from: u32, to: u32| pages[to as usize].found_on.is_none_or(|page| page == from);
    let all = || (0_u32..).take(pages.len());
    let starts = all().filter(|start| pages[*start as usize].found_on.is_none());
    let mut parents = vec![None; targets.len()];
    let mut reached = vec![false; targets.len()];
    let mut waiting = VecDeque::new();
    for start in starts.chain(all()) {
        if std::mem::replace(&mut reached[start as usize], true) {
            continue;
        }
        waiting.push_back(start);
        while let Some(from) = waiting.pop_front() {
            for to in &targets[from as usize] {
                if leads(from, *to) && !std::mem::replace(&mut reached[*to as usize], true) {
                    parents[*to as usize] = Some(from);
                    waiting.push_back(*to);
                }
            }
        }
    }
    parents
}

/// Returns the URLs that a Markdown text links to: `[text](url)`, including images, and `<url>`. For documents
/// that were stored without their list of links.
pub fn markdown_links(markdown: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut rest = markdown;
    while let Some(at) = rest.find(['(', '<']) {
        let is_target = rest[at..].starts_with('<') || rest[..at].ends_with(']');
        rest = &rest[at + 1..];
        if is_target {
            rest = rest.strip_prefix('<').unwrap_or(rest);
            if rest.starts_with("http://") || rest.starts_with("https://") {
                links.push(destination(rest));
            }
        }
    }
    links
}

/// Returns a URL up to the end of its link. Parentheses inside it are balanced; a backslash escapes the next
/// character.
fn destination(text: &str) -> String {
    let (mut url, mut depth, mut chars) = (String::new(), 0_usize, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                url.extend(chars.next());
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            '>' | '<' => break,
            c if c.is_whitespace() => break,
            _ => {}
        }
        url.push(c);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, links: &[&str]) -> PageLinks {
        PageLinks {
            urls: vec![format!("https://e.com{url}")],
            links: links.iter().map(|link| format!("https://e.com{link}")).collect(),
            found_on: None,
        }
    }

    fn on_page(page: PageLinks, on: u32) -> PageLinks {
        PageLinks {
            found_on: Some(on),
            ..page
        }
    }

    #[test]
    fn parents_follow_a_shortest_path_from_the_first_page() {
        let pages = [
            page("/", &["/a", "/b", "/", "/a#part"]),
            page("/a", &["/b", "/c", "/gone"]),
            page("/b/", &["/a", "/c"]),
            page("/c", &["/"]),
            page("/alone", &["/c"]),
        ];
        let graph = LinkGraph::of(&pages, 100);
        assert_eq!(graph.parents, [None, Some(0), Some(0), Some(1), None]);
        assert_eq!(
            graph.links,
            [(0, 1), (0, 2), (1, 2), (1, 3), (2, 1), (2, 3), (3, 0), (4, 3)]
        );
        assert!(!graph.cut);
    }

    #[test]
    fn the_parent_is_the_page_where_a_page_was_found() {
        // The third page comes from a sitemap; the fifth completed before the page that leads to it.
        let pages = [
            page("/", &["/a", "/b"]),
            on_page(page("/a", &["/map"]), 0),
            page("/map", &["/a"]),
            on_page(page("/b", &["/d"]), 1),
            on_page(page("/d", &["/"]), 5),
            on_page(page("/c", &[]), 1),
        ];
        let graph = LinkGraph::of(&pages, 100);
        assert_eq!(graph.parents, [None, Some(0), Some(1), Some(1), Some(5), Some(1)]);
        let expected = [
            (0, 1),
            (0, 3),
            (1, 2),
            (1, 3),
            (1, 5),
            (2, 1),
            (3, 4),
            (4, 0),
            (5, 4),
        ];
        assert_eq!(
            graph.links, expected,
            "includes the edges from parents that no page lists"
        );
    }

    #[test]
    fn parents_never_form_a_cycle() {
        // A sitemap page leads to the only page that links back.
        let pages = [
            page("/", &["/below"]),
            page("/map", &["/below"]),
            on_page(page("/below", &["/map"]), 1),
        ];
        assert_eq!(LinkGraph::of(&pages, 100).parents, [None, None, Some(1)]);

        // The same holds for input that no crawl produces: four pages, each found on any of them, on one out of
        // range, or on an unknown page.
        let all = ["/0", "/1", "/2", "/3"];
        let parents = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];
        for links in [&all[..], &all[1..2], &[]] {
            for case in 0..6_usize.pow(4) {
                let pages: [PageLinks; 4] = std::array::from_fn(|own| PageLinks {
                    found_on: parents[case / 6_usize.pow(own as u32) % 6],
                    ..page(all[own], links)
                });
                let graph = LinkGraph::of(&pages, 100);
                for own in 0..4 {
                    let mut ancestors =
                        std::iter::successors(Some(own), |page| graph.parents[*page as usize]);
                    assert_eq!(ancestors.nth(4), None, "{pages:?}");
                    let parent = graph.parents[own as usize];
                    assert!(parent.is_none_or(|from| graph.links.contains(&(from, own))));
                }
            }
        }
    }

    #[test]
    fn excess_links_are_dropped_but_never_edges_from_parents() {
        let all = ["/", "/a", "/b", "/c"];
        let pages = all.map(|url| page(url, &all));
        let graph = LinkGraph::of(&pages, 1);
        assert_eq!(graph.parents, [None, Some(0), Some(0), Some(0)]);
        assert_eq!(graph.links, [(0, 1), (0, 2), (0, 3), (1, 0)]);
        assert!(graph.cut);
        assert_eq!(LinkGraph::of(&[], 1), LinkGraph::default());
    }

    #[test]
    fn links_are_found_in_markdown() {
        let links = markdown_links(
            "[a](https://e.com/a \"title\") ![i](https://e.com/i.png) <https://e.com/auto> \
             [w](https://e.com/w_(x)) [e](https://e.com/e\\)e) [<](<https://e.com/p>) (https://e.com/no) [r](/relative) [",
        );
        assert_eq!(
            links,
            ["a", "i.png", "auto", "w_(x)", "e)e", "p"].map(|end| format!("https://e.com/{end}"))
        );
    }
}
