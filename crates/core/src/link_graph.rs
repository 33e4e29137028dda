//! Who links to whom among the pages of one job: what a picture of a crawl is drawn from. A page hangs on the one
//! where the crawl found it; where that is not known, on a shortest way by what the pages say.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::url_key::{Identity, UrlKey};

/// A page and where it leads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageLinks {
    /// Addresses under which others may link to it: before and after redirects.
    pub addresses: Vec<String>,
    /// Addresses that it links to, absolute.
    pub links: Vec<String>,
    /// The page with the first link to it, if that is known.
    pub found_on: Option<u32>,
}

/// The links among the pages of a job, each page by its place in the order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkGraph {
    /// For each page the one on which it was found or, where that is not known, the one before it on a shortest way
    /// from the first page; none for a page that no other leads to. A forest, whatever was put in.
    pub parents: Vec<Option<u32>>,
    /// From and to, by page; without links of a page to itself.
    pub links: Vec<(u32, u32)>,
    /// There were more links than these; the ways in `parents` are whole nevertheless.
    pub cut: bool,
}

impl LinkGraph {
    /// The links among these pages, at most `most` of them besides the ways.
    pub fn of(pages: &[PageLinks], most: usize) -> Self {
        let places = places(pages);
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
            .map(|((page, found), own)| targets(page, own, found, &places))
            .collect();
        let parents = parents(pages, &targets);
        let is_way = |from: u32, to: u32| parents[to as usize] == Some(from);
        let all = targets
            .iter()
            .zip(0..)
            .flat_map(|(targets, from)| targets.iter().map(move |to| (from, *to)));
        let mut graph = LinkGraph::default();
        let mut others = 0;
        for (from, to) in all {
            let way = is_way(from, to);
            others += usize::from(!way);
            if way || others <= most {
                graph.links.push((from, to));
            }
        }
        graph.cut = others > most;
        graph.parents = parents;
        graph
    }
}

fn key(address: &str) -> Option<UrlKey> {
    Some(UrlKey::of(&Url::parse(address).ok()?, Identity::default()))
}

/// The first page of each address.
fn places(pages: &[PageLinks]) -> HashMap<UrlKey, u32> {
    let mut places = HashMap::new();
    for (page, place) in pages.iter().zip(0..) {
        for key in page.addresses.iter().filter_map(|address| key(address)) {
            places.entry(key).or_insert(place);
        }
    }
    places
}

/// The other pages that a page links to, each once, in its own order; last those that were found by links it does
/// not tell.
fn targets(page: &PageLinks, own: u32, found: &[u32], places: &HashMap<UrlKey, u32>) -> Vec<u32> {
    let mut seen = HashSet::from([own]);
    let known = page
        .links
        .iter()
        .filter_map(|link| places.get(&key(link)?).copied());
    let all = known.chain(found.iter().copied());
    all.filter(|target| seen.insert(*target)).collect()
}

/// A breadth-first walk from the first page, then from the first that it did not reach, and so on. What was found on a
/// known page is reached from there alone, and is a start only when that failed.
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

/// The addresses that a Markdown text links to: `[text](address)`, also of pictures, and `<address>`. For documents
/// that were kept without their list of links.
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

/// An address up to the end of its link; parentheses inside it are balanced, a backslash takes the next as it is.
fn destination(text: &str) -> String {
    let (mut address, mut depth, mut chars) = (String::new(), 0_usize, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                address.extend(chars.next());
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            '>' | '<' => break,
            c if c.is_whitespace() => break,
            _ => {}
        }
        address.push(c);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(address: &str, links: &[&str]) -> PageLinks {
        PageLinks {
            addresses: vec![format!("https://e.com{address}")],
            links: links.iter().map(|link| format!("https://e.com{link}")).collect(),
            found_on: None,
        }
    }

    fn found(page: PageLinks, on: u32) -> PageLinks {
        PageLinks {
            found_on: Some(on),
            ..page
        }
    }

    #[test]
    fn a_page_hangs_on_a_shortest_way_from_the_first() {
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
    fn a_page_hangs_on_the_one_where_it_was_found() {
        // The third is known from a sitemap, the fifth was done before the page that leads to it.
        let pages = [
            page("/", &["/a", "/b"]),
            found(page("/a", &["/map"]), 0),
            page("/map", &["/a"]),
            found(page("/b", &["/d"]), 1),
            found(page("/d", &["/"]), 5),
            found(page("/c", &[]), 1),
        ];
        let graph = LinkGraph::of(&pages, 100);
        assert_eq!(graph.parents, [None, Some(0), Some(1), Some(1), Some(5), Some(1)]);
        let told = [
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
        assert_eq!(graph.links, told, "with the ways that no page tells");
    }

    #[test]
    fn the_ways_never_go_in_a_circle() {
        // A page of a sitemap leads to the only page that links back.
        let pages = [
            page("/", &["/below"]),
            page("/map", &["/below"]),
            found(page("/below", &["/map"]), 1),
        ];
        assert_eq!(LinkGraph::of(&pages, 100).parents, [None, None, Some(1)]);

        // Nor with what no crawl can tell: four pages, each found on any of them, on one beyond, or nowhere known.
        let all = ["/0", "/1", "/2", "/3"];
        let places = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];
        for links in [&all[..], &all[1..2], &[]] {
            for case in 0..6_usize.pow(4) {
                let pages: [PageLinks; 4] = std::array::from_fn(|own| PageLinks {
                    found_on: places[case / 6_usize.pow(own as u32) % 6],
                    ..page(all[own], links)
                });
                let graph = LinkGraph::of(&pages, 100);
                for own in 0..4 {
                    let mut way = std::iter::successors(Some(own), |page| graph.parents[*page as usize]);
                    assert_eq!(way.nth(4), None, "{pages:?}");
                    let parent = graph.parents[own as usize];
                    assert!(parent.is_none_or(|from| graph.links.contains(&(from, own))));
                }
            }
        }
    }

    #[test]
    fn links_beyond_the_bound_are_left_out_but_never_the_ways() {
        let all = ["/", "/a", "/b", "/c"];
        let pages = all.map(|address| page(address, &all));
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
