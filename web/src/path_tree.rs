//! Addresses as a tree of their paths, with how many lie below each part. Pure; a list of ten thousand is built in one
//! walk.

use std::collections::{HashMap, HashSet};

/// A part of a path, or a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The part: `host:port`, `docs`, `page.html?x=1`.
    pub name: String,
    /// 0 for a host.
    pub depth: usize,
    /// What it lies in.
    pub parent: Option<usize>,
    /// In order of their names, those with something below first.
    pub children: Vec<usize>,
    /// Addresses here and below.
    pub count: usize,
    /// The address that ends here, by its place in the list.
    pub item: Option<usize>,
}

/// The tree of a list of addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathTree {
    branches: Vec<Branch>,
    roots: Vec<usize>,
}

impl PathTree {
    /// Of these addresses, in any order.
    pub fn of<'a>(addresses: impl Iterator<Item = &'a str>) -> Self {
        let mut tree = PathTree::default();
        let mut known: HashMap<(Option<usize>, &'a str), usize> = HashMap::new();
        for (item, address) in addresses.enumerate() {
            let (host, path) = parts(address);
            let mut at = tree.enter(&mut known, None, host);
            for part in path {
                at = tree.enter(&mut known, Some(at), part);
            }
            // A second address of the same parts, such as one with a slash at its end, stands below the first.
            if tree.branches[at].item.is_some() {
                at = tree.enter(&mut known, Some(at), "/");
            }
            tree.branches[at].item.get_or_insert(item);
        }
        tree.order();
        tree
    }

    fn enter<'a>(
        &mut self,
        known: &mut HashMap<(Option<usize>, &'a str), usize>,
        parent: Option<usize>,
        name: &'a str,
    ) -> usize {
        let next = self.branches.len();
        let at = *known.entry((parent, name)).or_insert(next);
        if at == next {
            self.branches.push(Branch {
                name: name.to_owned(),
                depth: parent.map_or(0, |parent| self.branches[parent].depth + 1),
                parent,
                children: Vec::new(),
                count: 0,
                item: None,
            });
            match parent {
                Some(parent) => self.branches[parent].children.push(at),
                None => self.roots.push(at),
            }
        }
        self.branches[at].count += 1;
        at
    }

    /// A part that was entered counts once for each address that passed; children are put in order.
    fn order(&mut self) {
        for at in 0..self.branches.len() {
            let mut children = std::mem::take(&mut self.branches[at].children);
            children.sort_by(|a, b| {
                let (a, b) = (&self.branches[*a], &self.branches[*b]);
                let is_leaf = |branch: &Branch| branch.children.is_empty() && branch.item.is_some();
                is_leaf(a).cmp(&is_leaf(b)).then_with(|| a.name.cmp(&b.name))
            });
            self.branches[at].children = children;
        }
    }

    /// A part.
    pub fn branch(&self, at: usize) -> &Branch {
        &self.branches[at]
    }

    /// The place of a part among those beside it, from 1, and how many those are.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let beside = match self.branches[at].parent {
            Some(parent) => &self.branches[parent].children,
            None => &self.roots,
        };
        let place = beside.iter().position(|one| *one == at).unwrap_or_default();
        (place + 1, beside.len())
    }

    /// Every part that is in sight when these are open, in order.
    pub fn rows(&self, open: &HashSet<usize>) -> Vec<usize> {
        let mut rows = Vec::new();
        let mut waiting: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            rows.push(at);
            if open.contains(&at) {
                waiting.extend(self.branches[at].children.iter().rev());
            }
        }
        rows
    }

    /// What is open at first: from the hosts down, as long as no more than so many rows are in sight.
    pub fn first_open(&self, most: usize) -> HashSet<usize> {
        let mut open = HashSet::new();
        let mut rows = self.roots.len();
        let mut level: Vec<usize> = self.roots.clone();
        while !level.is_empty() {
            let below: usize = level.iter().map(|at| self.branches[*at].children.len()).sum();
            // The hosts are open whatever lies in them: a single closed row says nothing.
            if rows + below > most && !open.is_empty() {
                break;
            }
            rows += below;
            open.extend(level.iter().filter(|at| !self.branches[**at].children.is_empty()));
            level = level
                .iter()
                .flat_map(|at| self.branches[*at].children.iter().copied())
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
        let open = (0..tree.branches.len()).collect();
        let rows = tree.rows(&open).into_iter().map(|at| {
            let branch = tree.branch(at);
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
        assert_eq!(tree.rows(&tree.first_open(4)).len(), 4);
        assert_eq!(tree.rows(&tree.first_open(100)).len(), 6);
        assert_eq!(tree.rows(&tree.first_open(0)).len(), 3);
        assert_eq!(tree.place(0), (1, 1));
    }
}
