//! robots.txt state of each host of a job: fetched once, retried while unreachable, then decided. It
//! performs no fetches; it names the next file to fetch and stores the result.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use url::{Position, Url};

use crate::crawl::limits::ROBOTS_MEMORY_MAX_BYTES;
use crate::crawl::{FetchFailure, RobotsOutcome};
use crate::host::HostKey;
use crate::politeness::backoff_ms;
use crate::robots::Robots;
use crate::time::Timestamp;

/// What robots.txt says about a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Allowed,
    Disallowed,
    /// The host cannot be reached at all.
    HostUnreachable,
    /// The host's file has not been read yet.
    Unknown,
}

/// The robots.txt files of one job.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// `ignoreRobotsTxt`: everything is allowed; files are read only for their sitemaps.
    ignore: bool,
    states: HashMap<HostKey, State>,
    /// Files to fetch, by due time and order of request.
    due: BTreeSet<(Timestamp, u64, HostKey)>,
    next_ordinal: u64,
    /// Loaded files, oldest first, with their memory in bytes.
    loaded: VecDeque<(HostKey, usize)>,
    loaded_bytes: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// In `due`, or in flight.
    Pending {
        attempts: u32,
        in_flight: bool,
    },
    Known(Robots),
    /// The file could not be fetched, for this reason: nothing is allowed.
    Unreachable(String),
    /// The host cannot be reached: its pages fail with this.
    HostUnreachable(FetchFailure),
}

impl Hosts {
    pub(super) fn new(ignore: bool) -> Self {
        Self {
            ignore,
            states: HashMap::new(),
            due: BTreeSet::new(),
            next_ordinal: 0,
            loaded: VecDeque::new(),
            loaded_bytes: 0,
        }
    }

    pub(super) fn ignores_robots(&self) -> bool {
        self.ignore
    }

    /// Returns what is known about a URL now.
    pub(super) fn access(&self, url: &Url) -> Access {
        if self.ignore {
            return Access::Allowed;
        }
        match self.states.get(&HostKey::of(url)) {
            None | Some(State::Pending { .. }) => Access::Unknown,
            Some(State::Unreachable(_)) => Access::Disallowed,
            Some(State::HostUnreachable(_)) => Access::HostUnreachable,
            Some(State::Known(robots)) => {
                if robots.allows(&url[Position::BeforePath..Position::AfterQuery]) {
                    Access::Allowed
                } else {
                    Access::Disallowed
                }
            }
        }
    }

    /// Returns the rules of a host if they are known.
    pub(super) fn robots(&self, host: &HostKey) -> Option<&Robots> {
        match self.states.get(host) {
            Some(State::Known(robots)) => Some(robots),
            _ => None,
        }
    }

    /// Returns whether this host's file was read or given up on.
    pub(super) fn is_decided(&self, host: &HostKey) -> bool {
        matches!(
            self.states.get(host),
            Some(State::Known(_) | State::Unreachable(_) | State::HostUnreachable(_))
        )
    }

    /// Returns whether this host's file was given up on.
    pub(super) fn is_unreachable(&self, host: &HostKey) -> bool {
        matches!(
            self.states.get(host),
            Some(State::Unreachable(_) | State::HostUnreachable(_))
        )
    }

    /// Returns why this host cannot be reached, if it cannot.
    pub(super) fn failure(&self, host: &HostKey) -> Option<&FetchFailure> {
        match self.states.get(host) {
            Some(State::HostUnreachable(failure)) => Some(failure),
            _ => None,
        }
    }

    /// Returns why this host's file was given up on, if it was.
    pub(super) fn unreachable_reason(&self, host: &HostKey) -> Option<&str> {
        match self.states.get(host) {
            Some(State::Unreachable(why)) => Some(why),
            _ => None,
        }
    }

    /// Queues a host's file unless it was queued before.
    pub(super) fn request(&mut self, host: &HostKey, now: Timestamp) {
        if !self.states.contains_key(host) {
            self.queue(host, 0, now);
        }
    }

    fn queue(&mut self, host: &HostKey, attempts: u32, at: Timestamp) {
        let state = State::Pending {
            attempts,
            in_flight: false,
        };
        self.states.insert(host.clone(), state);
        self.due.insert((at, self.next_ordinal, host.clone()));
        self.next_ordinal += 1;
    }

    /// Returns the next host whose file is due.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<HostKey> {
        let (at, ordinal, host) = self.due.first()?.clone();
        if at > now {
            return None;
        }
        self.due.remove(&(at, ordinal, host.clone()));
        if let Some(State::Pending { in_flight, .. }) = self.states.get_mut(&host) {
            *in_flight = true;
        }
        Some(host)
    }

    /// Returns when the next file is due.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _, _)| *at)
    }

    /// Processes the result of a fetch. Returns `None` if that file is not in flight.
    pub(super) fn handle_response(
        &mut self,
        host: &HostKey,
        outcome: RobotsOutcome,
        now: Timestamp,
    ) -> Option<RobotsUpdate> {
        let Some(State::Pending {
            attempts,
            in_flight: true,
        }) = self.states.get(host)
        else {
            return None;
        };
        let attempts = attempts + 1;
        let transient = match &outcome {
            RobotsOutcome::Unreachable(_) => !self.ignore,
            RobotsOutcome::HostError(failure) => !self.ignore && failure.transient,
            RobotsOutcome::Found(_) | RobotsOutcome::Missing => false,
        };
        if let Some(wait) = backoff_ms(attempts, None).filter(|_| transient) {
            self.queue(host, attempts, now + Duration::from_millis(wait));
            return Some(RobotsUpdate::Retrying);
        }
        let state = match outcome {
            RobotsOutcome::Found(robots) => State::Known(robots),
            RobotsOutcome::Missing => State::Known(Robots::default()),
            RobotsOutcome::Unreachable(_) | RobotsOutcome::HostError(_) if self.ignore => {
                State::Known(Robots::default())
            }
            RobotsOutcome::Unreachable(why) => State::Unreachable(why),
            RobotsOutcome::HostError(failure) => State::HostUnreachable(failure),
        };
        if let State::Known(robots) = &state {
            let bytes = robots.memory_bytes();
            self.loaded.push_back((host.clone(), bytes));
            self.loaded_bytes += bytes;
        }
        self.states.insert(host.clone(), state);
        self.evict_oldest();
        Some(RobotsUpdate::Decided)
    }

    /// Evicts old files to bound memory, however many hosts a site has. Always keeps the newest.
    fn evict_oldest(&mut self) {
        while self.loaded_bytes > ROBOTS_MEMORY_MAX_BYTES && self.loaded.len() > 1 {
            if let Some((host, bytes)) = self.loaded.pop_front() {
                self.loaded_bytes -= bytes;
                self.states.remove(&host);
            }
        }
    }
}

/// Effect of a robots.txt response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RobotsUpdate {
    /// The host's rules are known from now on.
    Decided,
    /// The file will be fetched again.
    Retrying,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_all_rules_is_bounded() {
        let mut text = b"User-agent: *\n".to_vec();
        for i in 0..20_000 {
            text.extend_from_slice(format!("Disallow: /{i:010}\n").as_bytes());
        }
        let robots = Robots::parse(&text, "bot");
        assert!(robots.memory_bytes() > 400_000);
        let now = Timestamp(0);
        let mut hosts = Hosts::new(false);
        for i in 0..200 {
            let host = HostKey::from(format!("http://h{i}.test").as_str());
            hosts.request(&host, now);
            assert_eq!(hosts.next(now), Some(host.clone()));
            hosts.handle_response(&host, RobotsOutcome::Found(robots.clone()), now);
            assert!(hosts.is_decided(&host));
            assert!(hosts.loaded_bytes <= ROBOTS_MEMORY_MAX_BYTES);
        }
        let first = HostKey::from("http://h0.test");
        assert_eq!(
            hosts.access(&Url::parse("http://h0.test/x").unwrap()),
            Access::Unknown
        );
        hosts.request(&first, now);
        assert_eq!(hosts.next(now), Some(first));
    }

    #[test]
    fn an_unreachable_file_is_fetched_three_times() {
        let host = HostKey::from("http://site.test");
        let mut hosts = Hosts::new(false);
        hosts.request(&host, Timestamp(0));
        for at in [0, 1_000, 3_000] {
            assert_eq!(hosts.next(Timestamp(at)), Some(host.clone()));
            assert_eq!(hosts.next(Timestamp(at)), None);
            hosts.handle_response(
                &host,
                RobotsOutcome::Unreachable(format!("at {at}")),
                Timestamp(at),
            );
            assert_eq!(
                hosts.handle_response(&host, RobotsOutcome::Missing, Timestamp(at)),
                None,
                "not in flight"
            );
        }
        assert!(hosts.is_unreachable(&host));
        assert_eq!(hosts.unreachable_reason(&host), Some("at 3000"));
        assert_eq!(
            hosts.access(&Url::parse("http://site.test/").unwrap()),
            Access::Disallowed
        );
    }
}
