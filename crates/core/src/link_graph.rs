//! Who links to whom among the pages of one job: what a picture of a crawl is drawn from. It knows only what the
//! pages say, never in which order they were discovered.

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
}

/// The links among the pages of a job, each page by its place in the order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkGraph {
    /// For each page the one before it on a shortest way from the first page; none for a page that no other leads to.
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
        let targets: Vec<Vec<u32>> = pages
            .iter()
            .zip(0..)
            .map(|(page, own)| targets(page, own, &places))
            .collect();
        let parents = parents(&targets);
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

/// The other pages that a page links to, each once, in its own order.
fn targets(page: &PageLinks, own: u32, places: &HashMap<UrlKey, u32>) -> Vec<u32> {
    let mut seen = HashSet::from([own]);
    let known = page
        .links
        .iter()
        .filter_map(|link| places.get(&key(link)?).copied());
    known.filter(|target| seen.insert(*target)).collect()
}

/// A breadth-first walk from the first page, then from the first that it did not reach, and so on.
fn parents(targets: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut parents = vec![None; targets.len()];
    let mut reached = vec![false; targets.len()];
    let mut waiting = VecDeque::new();
    for (start, place) in (0..targets.len()).zip(0..) {
        if std::mem::replace(&mut reached[start], true) {
            continue;
        }
        waiting.push_back(place);
        while let Some(from) = waiting.pop_front() {
            for to in &targets[from as usize] {
                if !std::mem::replace(&mut reached[*to as usize], true) {
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
