//! Addresses as a tree of their paths, with how many lie below each part. Pure. It grows address by address, and what
//! lies in a part is put in order only when that part is seen.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A part of a path, or a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The part: `host:port`, `docs`, `page.html?x=1`.
    pub name: Arc<str>,
    /// 0 for a host.
    pub depth: usize,
    /// What it lies in.
    pub parent: Option<usize>,
    /// Addresses here and below.
    pub count: usize,
    /// The address that ends here, by its place in the list.
    pub item: Option<usize>,
    children: Children,
}

impl Branch {
    /// Whether something lies below.
    pub fn is_parent(&self) -> bool {
        !self.children.is_empty()
    }
}

type Children = BTreeMap<Arc<str>, usize>;

/// A part that is in sight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Row {
    /// The part.
    pub branch: usize,
    /// Its place among those beside it, from 1.
    pub place: usize,
    /// How many those are.
    pub beside: usize,
}

/// The tree of a list of addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathTree {
    branches: Vec<Branch>,
    roots: Children,
    addresses: usize,
}

impl PathTree {
    /// Of these addresses, in any order.
    pub fn of<'a>(addresses: impl Iterator<Item = &'a str>) -> Self {
        let mut tree = PathTree::default();
        addresses.for_each(|address| tree.push(address));
        tree
    }

    /// Adds the next address of the list. A part keeps its number.
    pub fn push(&mut self, address: &str) {
        let (host, path) = parts(address);
        let mut at = self.enter(None, host);
        for part in path {
            at = self.enter(Some(at), part);
        }
        // A second address of the same parts, such as one with a slash at its end, stands below the first.
        if self.branches[at].item.is_some() {
            at = self.enter(Some(at), "/");
        }
        self.branches[at].item.get_or_insert(self.addresses);
        self.addresses += 1;
    }

    /// How many addresses it has.
    pub fn len(&self) -> usize {
        self.addresses
    }

    /// A part counts once for each address that passes.
    fn enter(&mut self, parent: Option<usize>, name: &str) -> usize {
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

    /// A part.
    pub fn branch(&self, at: usize) -> &Branch {
        &self.branches[at]
    }

    /// What lies in a part, or the hosts: in order of their names, those with something below first.
    fn inside(&self, parent: Option<usize>) -> impl DoubleEndedIterator<Item = Row> {
        let children = self.children(parent);
        let all = |parents: bool| {
            let one = move |at: &&usize| self.branches[**at].is_parent() == parents;
            children.values().filter(one)
        };
        let beside = children.len();
        let ordered: Vec<usize> = all(true).chain(all(false)).copied().collect();
        ordered.into_iter().enumerate().map(move |(before, branch)| Row {
            branch,
            place: before + 1,
            beside,
        })
    }

    /// The first part that lies in one.
    pub fn first_inside(&self, at: usize) -> Option<usize> {
        self.inside(Some(at)).next().map(|row| row.branch)
    }

    /// Every part that is in sight when these are open, in order.
    pub fn rows(&self, is_open: impl Fn(usize) -> bool) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut waiting: Vec<Row> = self.inside(None).rev().collect();
        while let Some(row) = waiting.pop() {
            rows.push(row);
            if self.branches[row.branch].is_parent() && is_open(row.branch) {
                waiting.extend(self.inside(Some(row.branch)).rev());
            }
        }
        rows
    }

    /// What is open at first: from the hosts down, as long as no more than so many rows are in sight.
    pub fn first_open(&self, most: usize) -> HashSet<usize> {
        let mut open = HashSet::new();
        let mut rows = self.roots.len();
        let mut level: Vec<usize> = self.roots.values().copied().collect();
        while !level.is_empty() {
            let below: usize = level.iter().map(|at| self.branches[*at].children.len()).sum();
            // The hosts are open whatever lies in them: a single closed row says nothing.
            if rows + below > most && !open.is_empty() {
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

/// Host, and the parts of the path; the query belongs to the last.
fn parts(address: &str) -> (&str, impl Iterator<Item = &str>) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (path, query) = match path.find('?') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    // The last part and its query are one text of the address.
    let whole = &rest[end..];
    let last = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let (before, tail) = match query {
        "" => (path, ""),
        _ => whole.split_at(last.min(whole.len())),
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

    fn drawn(addresses: &[&str]) -> String {
        let tree = PathTree::of(addresses.iter().copied());
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
    fn paths_are_counted_below_each_part() {
        let tree = drawn(&[
            "https://e.com/",
            "https://e.com/docs/b",
            "https://e.com/docs/a?x=1/2",
            "https://e.com/about",
            "https://e.com/docs",
            "https://e.com/docs/",
            "http://other.test:81",
        ]);
        assert_eq!(
            tree,
            "e.com 6 = 0\n  docs 4 = 4\n    / 1 = 5\n    a?x=1/2 1 = 2\n    b 1 = 1\n  about 1 = 3\nother.test:81 1 = 6\n"
        );
    }

    #[test]
    fn as_much_is_open_at_first_as_there_is_room_for() {
        let tree =
            PathTree::of(["https://e.com/a/b/c", "https://e.com/a/b/d", "https://e.com/x"].into_iter());
        let rows = |most| {
            let open = tree.first_open(most);
            tree.rows(|branch| open.contains(&branch))
        };
        assert_eq!(rows(4).len(), 4);
        assert_eq!(rows(100).len(), 6);
        assert_eq!(rows(0).len(), 3);
        let places: Vec<_> = rows(100).iter().map(|row| (row.place, row.beside)).collect();
        assert_eq!(places, [(1, 1), (1, 2), (1, 1), (1, 2), (2, 2), (2, 2)]);
    }

    #[test]
    fn a_tree_that_grows_keeps_its_parts() {
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
        assert_eq!(tree.first_inside(after[1].branch), Some(after[2].branch));
        assert_eq!((tree.len(), tree.branch(after[1].branch).count), (3, 2));
    }
}
