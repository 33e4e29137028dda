//! A list of URLs as a tree of hosts and path segments, with counts. Pure. URLs are added one by one; the children of
//! a branch are ordered only when they are listed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A host or a path segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Name, such as `host:port`, `docs` or `page.html?x=1`.
    pub name: Arc<str>,
    /// 0 for a host.
    pub depth: usize,
    /// The branch that contains it.
    pub parent: Option<usize>,
    /// Number of URLs at or below it.
    pub count: usize,
    /// Index in the list of the URL that ends here.
    pub item: Option<usize>,
    children: Children,
}

impl Branch {
    /// Returns whether it has children.
    pub fn is_parent(&self) -> bool {
        !self.children.is_empty()
    }
}

type Children = BTreeMap<Arc<str>, usize>;

/// A visible branch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Row {
    /// Index of the branch.
    pub branch: usize,
    /// Position among its siblings, from 1.
    pub position: usize,
    /// Number of siblings, including itself.
    pub siblings: usize,
}

/// The tree of a list of URLs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathTree {
    branches: Vec<Branch>,
    roots: Children,
    url_count: usize,
}

impl PathTree {
    /// Builds the tree of URLs in any order.
    #[cfg(test)]
    pub fn of<'a>(urls: impl Iterator<Item = &'a str>) -> Self {
        Self::of_items(urls.enumerate())
    }

    /// Builds the tree of some URLs of a list, each with its index in that list.
    pub fn of_items<'a>(urls: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let mut tree = PathTree::default();
        urls.for_each(|(item, url)| tree.push_item(item, url));
        tree
    }

    /// Adds the next URL of the list. Indexes of existing branches do not change.
    pub fn push(&mut self, url: &str) {
        self.push_item(self.url_count, url);
    }

    fn push_item(&mut self, item: usize, url: &str) {
        let (host, path) = parts(url);
        let mut at = self.count_into(None, host);
        for part in path {
            at = self.count_into(Some(at), part);
        }
        // A second URL with the same segments, such as one with a trailing slash, becomes a child of the first.
        if self.branches[at].item.is_some() {
            at = self.count_into(Some(at), "/");
        }
        self.branches[at].item.get_or_insert(item);
        self.url_count += 1;
    }

    /// Returns the number of URLs.
    pub fn len(&self) -> usize {
        self.url_count
    }

    /// Returns the child branch with a name, created if needed, and counts one more URL in it.
    fn count_into(&mut self, parent: Option<usize>, name: &str) -> usize {
        if let Some(at) = self.children(parent).get(name).copied() {
            self.branches[at].count += 1;
            return at;
        }
        let (at, name) = (self.branches.len(), Arc::<str>::from(name));
        self.branches.push(Branch {
            name: name.clone(),
            depth: parent.map_or(0, |parent| self.branches[parent].depth + 1),
            parent,
            count: 1,
            item: None,
            children: Children::new(),
        });
        match parent {
            Some(parent) => self.branches[parent].children.insert(name, at),
            None => self.roots.insert(name, at),
        };
        at
    }

    fn children(&self, parent: Option<usize>) -> &Children {
        parent.map_or(&self.roots, |parent| &self.branches[parent].children)
    }

    /// Returns the branch at an index.
    pub fn branch(&self, at: usize) -> &Branch {
        &self.branches[at]
    }

    /// Returns the children of a branch, or the hosts: branches with children first, then by name.
    fn child_rows(&self, parent: Option<usize>) -> impl DoubleEndedIterator<Item = Row> {
        let children = self.children(parent);
        let all = |parents: bool| {
            let one = move |at: &&usize| self.branches[**at].is_parent() == parents;
            children.values().filter(one)
        };
        let siblings = children.len();
        let ordered: Vec<usize> = all(true).chain(all(false)).copied().collect();
        ordered.into_iter().enumerate().map(move |(before, branch)| Row {
            branch,
            position: before + 1,
            siblings,
        })
    }

    /// Returns the first child of a branch.
    pub fn first_child(&self, at: usize) -> Option<usize> {
        self.child_rows(Some(at)).next().map(|row| row.branch)
    }

    /// Returns the indexes of the URLs at or below a branch.
    pub fn items(&self, at: usize) -> Vec<usize> {
        let (mut items, mut pending) = (Vec::new(), vec![at]);
        while let Some(at) = pending.pop() {
            items.extend(self.branches[at].item);
            pending.extend(self.branches[at].children.values());
        }
        items
    }

    /// Returns for each branch how many of its URLs are in a set.
    pub fn counts_in(&self, set: &HashSet<usize>) -> Vec<usize> {
        let is_in = |branch: &Branch| usize::from(branch.item.is_some_and(|item| set.contains(&item)));
        let mut counts: Vec<usize> = self.branches.iter().map(is_in).collect();
        // A branch comes after its parent.
        for at in (0..counts.len()).rev() {
            if let Some(parent) = self.branches[at].parent {
                counts[parent] += counts[at];
            }
        }
        counts
    }

    /// Returns the visible branches in display order, given which ones are open.
    pub fn rows(&self, is_open: impl Fn(usize) -> bool) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut pending: Vec<Row> = self.child_rows(None).rev().collect();
        while let Some(row) = pending.pop() {
            rows.push(row);
            if self.branches[row.branch].is_parent() && is_open(row.branch) {
                pending.extend(self.child_rows(Some(row.branch)).rev());
            }
        }
        rows
    }

    /// Returns the branches to open initially: level by level from the hosts, while at most `max_rows` rows are
    /// visible.
    pub fn initially_open_branches(&self, max_rows: usize) -> HashSet<usize> {
        let mut open = HashSet::new();
        let mut rows = self.roots.len();
        let mut level: Vec<usize> = self.roots.values().copied().collect();
        while !level.is_empty() {
            let below: usize = level.iter().map(|at| self.branches[*at].children.len()).sum();
            // Hosts are always open, because a single closed row shows nothing.
            if rows + below > max_rows && !open.is_empty() {
                break;
            }
            rows += below;
            open.extend(level.iter().filter(|at| self.branches[**at].is_parent()));
            level = level
                .iter()
                .flat_map(|at| self.branches[*at].children.values().copied())
                .collect();
        }
        open
    }
}

/// Splits a URL into host and path segments; the query belongs to the last segment.
fn parts(url: &str) -> (&str, impl Iterator<Item = &str>) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (path, query) = match path.find('?') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    // The last segment and its query form one slice of the URL.
    let path_and_query = &rest[end..];
    let last = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let (before, tail) = match query {
        "" => (path, ""),
        _ => path_and_query.split_at(last.min(path_and_query.len())),
    };
    let tail = Some(tail).filter(|tail| !tail.is_empty());
    (
        host,
        before.split('/').filter(|part| !part.is_empty()).chain(tail),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(urls: &[&str]) -> String {
        let tree = PathTree::of(urls.iter().copied());
        let rows = tree.rows(|_| true).into_iter().map(|row| {
            let branch = tree.branch(row.branch);
            let item = branch.item.map_or_else(String::new, |item| format!(" = {item}"));
            format!(
                "{}{} {}{item}\n",
                "  ".repeat(branch.depth),
                branch.name,
                branch.count
            )
        });
        rows.collect()
    }

    #[test]
    fn urls_are_counted_per_branch() {
        let tree = drawn(&[
            "https://e.com/", "https://e.com/docs/b", "https://e.com/docs/a?x=1/2", "https://e.com/about",
            "https://e.com/docs", "https://e.com/docs/", "http://other.test:81",
        ]);
        assert_eq!(
            tree,
            "e.com 6 = 0\n  docs 4 = 4\n    / 1 = 5\n    a?x=1/2 1 = 2\n    b 1 = 1\n  about 1 = 3\nother.test:81 1 = 6\n"
        );
    }

    #[test]
    fn initially_open_rows_stay_within_the_limit() {
        let tree =
            PathTree::of(["https://e.com/a/b/c", "https://e.com/a/b/d", "https://e.com/x"].into_iter());
        let rows = |max_rows| {
            let open = tree.initially_open_branches(max_rows);
            tree.rows(|branch| open.contains(&branch))
        };
        assert_eq!(rows(4).len(), 4);
        assert_eq!(rows(100).len(), 6);
        assert_eq!(rows(0).len(), 3);
        let places: Vec<_> = rows(100).iter().map(|row| (row.position, row.siblings)).collect();
        assert_eq!(places, [(1, 1), (1, 2), (1, 1), (1, 2), (2, 2), (2, 2)]);
    }

    #[test]
    fn adding_urls_keeps_branch_indexes() {
        let mut tree = PathTree::of(["https://e.com/b/2"].into_iter());
        let before = tree.rows(|_| true);
        tree.push("https://e.com/b/1");
        tree.push("https://e.com/a");
        let after = tree.rows(|_| true);
        let names: Vec<_> = after.iter().map(|row| &*tree.branch(row.branch).name).collect();
        assert_eq!(names, ["e.com", "b", "1", "2", "a"]);
        assert_eq!(
            [before[0].branch, before[1].branch],
            [after[0].branch, after[1].branch]
        );
        assert_eq!(before[2].branch, after[3].branch);
        assert_eq!(tree.first_child(after[1].branch), Some(after[2].branch));
        assert_eq!((tree.len(), tree.branch(after[1].branch).count), (3, 2));
    }

    #[test]
    fn items_of_branches_are_counted_in_a_set() {
        let urls = [
            (4, "https://e.com/a/1"),
            (7, "https://e.com/a/2"),
            (9, "https://e.com/b"),
        ];
        let tree = PathTree::of_items(urls.into_iter());
        let mut items = tree.items(0);
        items.sort_unstable();
        assert_eq!(items, [4, 7, 9]);
        assert_eq!(tree.items(1), [4, 7].into_iter().rev().collect::<Vec<_>>());
        // e.com, a, 1, 2, b
        assert_eq!(tree.counts_in(&HashSet::from([4, 9])), [2, 1, 1, 0, 1]);
    }
}
