//! The queued URLs of one host, in order. Only the part of a URL after the host is stored, so a queued
//! URL takes about 48 bytes plus its path.

use std::collections::{BTreeMap, VecDeque};

use url::Url;

use crate::crawl::batch::Source;
use crate::frontier::{Entry, Position};
use crate::host::HostKey;
use crate::url_key::UrlKey;

/// Levels by depth, each ordered by ordinal. No level is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(BTreeMap<u32, VecDeque<QueuedUrl>>);

#[derive(Clone, Debug)]
struct QueuedUrl {
    key: UrlKey,
    ordinal: u64,
    /// Path and query, or the whole URL if it does not start with the host key.
    suffix: Box<str>,
    attempts: u16,
    failed_attempts: u8,
    source: Source,
}

impl QueuedUrl {
    fn of(entry: Entry) -> Self {
        let url = entry.url.as_str();
        Self {
            key: entry.key,
            ordinal: entry.position.ordinal,
            suffix: url.strip_prefix(entry.host.as_str()).unwrap_or(url).into(),
            attempts: u16::try_from(entry.earlier_attempts).unwrap_or(u16::MAX),
            failed_attempts: u8::try_from(entry.failed_attempts).unwrap_or(u8::MAX),
            source: entry.source,
        }
    }

    fn url(&self, host: &HostKey) -> Url {
        let url = if self.suffix.starts_with('/') {
            Url::parse(&format!("{host}{}", self.suffix))
        } else {
            Url::parse(&self.suffix)
        };
        url.expect("a serialized `Url` parses")
    }

    fn entry(self, depth: u32, host: &HostKey) -> Entry {
        Entry {
            url: self.url(host),
            position: Position {
                depth,
                ordinal: self.ordinal,
            },
            key: self.key,
            host: host.clone(),
            source: self.source,
            earlier_attempts: self.attempts.into(),
            failed_attempts: self.failed_attempts.into(),
        }
    }
}

impl Queue {
    /// Returns the position of the first URL.
    pub(super) fn first(&self) -> Option<Position> {
        let (&depth, level) = self.0.first_key_value()?;
        let ordinal = level.front()?.ordinal;
        Some(Position { depth, ordinal })
    }

    /// Inserts a URL at its position; a new URL is the last of its depth.
    pub(super) fn push(&mut self, entry: Entry) {
        let level = self.0.entry(entry.position.depth).or_default();
        let index = match level.back() {
            Some(last) if last.ordinal > entry.position.ordinal => {
                level.partition_point(|waiting| waiting.ordinal < entry.position.ordinal)
            }
            _ => level.len(),
        };
        level.insert(index, QueuedUrl::of(entry));
    }

    /// Removes and returns the first URL.
    pub(super) fn pop(&mut self, host: &HostKey) -> Option<Entry> {
        let mut level = self.0.first_entry()?;
        let depth = *level.key();
        let waiting = level.get_mut().pop_front();
        if level.get().is_empty() {
            level.remove();
        }
        waiting.map(|waiting| waiting.entry(depth, host))
    }

    /// Removes and returns the URLs for which `refused` returns true, in order.
    pub(super) fn remove(&mut self, host: &HostKey, mut refused: impl FnMut(&Url) -> bool) -> Vec<Entry> {
        let mut out = Vec::new();
        for (&depth, level) in &mut self.0 {
            let (gone, kept) = std::mem::take(level)
                .into_iter()
                .partition(|waiting| refused(&waiting.url(host)));
            *level = kept;
            let gone: VecDeque<QueuedUrl> = gone;
            out.extend(gone.into_iter().map(|waiting| waiting.entry(depth, host)));
        }
        self.0.retain(|_, level| !level.is_empty());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(depth: u32, ordinal: u64, url: &str) -> Entry {
        let url = Url::parse(url).unwrap();
        Entry {
            position: Position { depth, ordinal },
            key: UrlKey(ordinal.into()),
            host: HostKey::of(&url),
            url,
            source: Source::Link,
            earlier_attempts: 0,
            failed_attempts: 1,
        }
    }

    #[test]
    fn entries_come_out_unchanged_by_depth_and_ordinal() {
        let host = HostKey::from("http://site.test:8080");
        let mut queue = Queue::default();
        let entries = [
            entry(0, 3, "http://site.test:8080/"),
            entry(0, 9, "http://site.test:8080/a?b=c%20d"),
            entry(1, 1, "http://user:secret@site.test:8080/b"),
            entry(1, 4, "http://site.test:8080//x"),
            entry(1, 5, "http://site.test:8080/c"),
        ];
        for index in [4, 1, 2, 0, 3] {
            queue.push(entries[index].clone());
        }
        assert_eq!(queue.first(), Some(entries[0].position));
        assert_eq!(
            queue.remove(&host, |url| url.path() == "/c"),
            [entries[4].clone()]
        );
        let out: Vec<Entry> = std::iter::from_fn(|| queue.pop(&host)).collect();
        assert_eq!(out, entries[..4]);
        assert_eq!(queue.first(), None);
    }

    #[test]
    fn a_queued_url_is_small() {
        assert!(size_of::<QueuedUrl>() <= 48, "{}", size_of::<QueuedUrl>());
    }
}
