//! A bounded cache of links that need no further check, because they are already known or out of scope. Most links
//! of a page have already occurred on other pages.

use std::hash::{DefaultHasher, Hash, Hasher};

use url::Url;

/// Number of links in the first allocation, and the maximum number, which takes 512 KiB.
const MIN_LINKS: usize = 1 << 10;
const MAX_LINKS: usize = 1 << 16;

/// Hashes of links, the newest in each slot. A link whose hash was replaced is just checked again.
#[derive(Clone, Debug, Default)]
pub(super) struct SettledLinks {
    hashes: Vec<u64>,
    inserted: usize,
}

/// The hash of one link.
#[derive(Clone, Copy)]
pub(super) struct LinkHash(u64);

impl LinkHash {
    /// Hashes a link.
    pub(super) fn of(url: &Url) -> LinkHash {
        let mut hasher = DefaultHasher::new();
        url.as_str().hash(&mut hasher);
        // Zero marks an empty slot.
        LinkHash(hasher.finish().max(1))
    }
}

impl SettledLinks {
    /// Returns whether the link is known to need no further check.
    pub(super) fn contains(&self, link: LinkHash) -> bool {
        self.hashes.get(self.slot(link)) == Some(&link.0)
    }

    /// Records that the link needs no further check.
    pub(super) fn insert(&mut self, link: LinkHash) {
        if self.inserted >= self.hashes.len() && self.hashes.len() < MAX_LINKS {
            self.hashes = vec![0; (self.hashes.len() * 4).max(MIN_LINKS)];
            self.inserted = 0;
        }
        self.inserted += 1;
        let slot = self.slot(link);
        self.hashes[slot] = link.0;
    }

    /// Removes all links, for example after the scope has changed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn slot(&self, link: LinkHash) -> usize {
        // The length is a power of two.
        usize::try_from(link.0 & (self.hashes.len() as u64).saturating_sub(1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_and_memory_is_bounded() {
        let mut links = SettledLinks::default();
        let url = |number: usize| Url::parse(&format!("http://site.test/{number}")).unwrap();
        assert!(!links.contains(LinkHash::of(&url(0))));
        for number in 0..2 * MAX_LINKS {
            let link = LinkHash::of(&url(number));
            links.insert(link);
            assert!(links.contains(link));
        }
        assert_eq!(links.hashes.len(), MAX_LINKS);
        assert!(!links.contains(LinkHash::of(&url(3 * MAX_LINKS))));
        let link = LinkHash::of(&url(2 * MAX_LINKS - 1));
        links.clear();
        assert!(!links.contains(link));
    }
}
