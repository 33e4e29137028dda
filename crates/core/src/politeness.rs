//! When the next request to a host, and of the job as a whole, may start. Pure arithmetic on
//! timestamps, without URLs or queues.

use std::time::Duration;

use crate::crawl::limits::{ATTEMPTS_MAX, BACKOFF_FIRST_MS, RETRY_AFTER_MAX_MS};
use crate::time::Timestamp;

/// Whether a request may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Availability {
    /// Now.
    Now,
    /// Not before this time.
    At(Timestamp),
    /// Not before a request in flight ends.
    Busy,
}

/// Pace of one host, set by `Crawl-delay` and `Retry-After`.
#[derive(Clone, Debug, Default)]
pub struct HostPace {
    in_flight: u32,
    /// Time of the last start, which may precede the `Crawl-delay`.
    started: Option<Timestamp>,
    paused_until: Timestamp,
    /// `Crawl-delay`: ms between starts; it also limits the host to one request at a time.
    crawl_delay_ms: Option<u64>,
}

impl HostPace {
    /// Sets the host's `Crawl-delay`.
    pub fn set_crawl_delay_ms(&mut self, delay_ms: Option<u64>) {
        self.crawl_delay_ms = delay_ms;
    }

    /// Returns whether the host has a `Crawl-delay` and so gets one request at a time.
    pub fn has_crawl_delay(&self) -> bool {
        self.crawl_delay_ms.is_some()
    }

    /// Returns the number of requests to this host in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns when a request to this host may start.
    pub fn availability(&self, now: Timestamp) -> Availability {
        if self.has_crawl_delay() && self.in_flight > 0 {
            return Availability::Busy;
        }
        let delayed = self.started.zip(self.crawl_delay_ms);
        let next = delayed.map(|(started, delay_ms)| started + Duration::from_millis(delay_ms));
        match next.unwrap_or_default().max(self.paused_until) {
            time if time > now => Availability::At(time),
            _ => Availability::Now,
        }
    }

    /// Records the start of a request.
    pub fn start(&mut self, now: Timestamp) {
        self.in_flight += 1;
        self.started = Some(now);
    }

    /// Records another request of a page in flight, for example when the page continues in the browser.
    pub fn record_request(&mut self, now: Timestamp) {
        self.started = Some(now);
    }

    /// Records the end of a request, successful or not.
    pub fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Allows no start before `time`.
    pub fn pause_until(&mut self, time: Timestamp) {
        self.paused_until = self.paused_until.max(time);
    }
}

/// Pace of the whole job over all hosts, set by `maxConcurrency` and `delay` of the request.
#[derive(Clone, Debug)]
pub struct JobPace {
    max_in_flight: u32,
    one_at_a_time: bool,
    delay_ms: Option<u64>,
    in_flight: u32,
    next_start: Timestamp,
}

impl JobPace {
    /// Creates the pace of a job. A delay (ms between starts) limits it to one request at a time,
    /// whatever the maximum.
    pub fn new(max_in_flight: u32, delay_ms: Option<u64>) -> Self {
        Self {
            max_in_flight: if delay_ms.is_some() {
                1
            } else {
                max_in_flight.max(1)
            },
            one_at_a_time: false,
            delay_ms,
            in_flight: 0,
            next_start: Timestamp(0),
        }
    }

    /// Returns whether the request sets `delay`, which replaces every `Crawl-delay`.
    pub fn has_delay(&self) -> bool {
        self.delay_ms.is_some()
    }

    /// Returns the maximum number of requests in flight.
    pub fn max_in_flight(&self) -> u32 {
        if self.one_at_a_time { 1 } else { self.max_in_flight }
    }

    /// Limits the job to one request at a time, or lifts that limit.
    pub fn set_one_at_a_time(&mut self, one_at_a_time: bool) {
        self.one_at_a_time = one_at_a_time;
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns when a page or sitemap request may start.
    pub fn availability(&self, now: Timestamp) -> Availability {
        match self.robots_availability() {
            Availability::Now if self.next_start > now => Availability::At(self.next_start),
            availability => availability,
        }
    }

    /// Returns when a robots.txt request may start: it counts as in flight but ignores the delay.
    pub fn robots_availability(&self) -> Availability {
        if self.in_flight >= self.max_in_flight() {
            Availability::Busy
        } else {
            Availability::Now
        }
    }

    /// Records the start of a page or sitemap request.
    pub fn start(&mut self, now: Timestamp) {
        self.in_flight += 1;
        if let Some(delay_ms) = self.delay_ms {
            self.next_start = now + Duration::from_millis(delay_ms);
        }
    }

    /// Records the start of a robots.txt request.
    pub fn start_robots(&mut self) {
        self.in_flight += 1;
    }

    /// Records the end of a request of either kind.
    pub fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

/// Returns the wait in ms before the next attempt after `attempts` failed ones: exponential back-off,
/// or `Retry-After` if that is longer. Returns `None` if there is no further attempt: too many were
/// made, or the host asks for a longer wait than [`RETRY_AFTER_MAX_MS`].
pub fn backoff_ms(attempts: u32, retry_after_ms: Option<u64>) -> Option<u64> {
    if attempts >= ATTEMPTS_MAX || retry_after_ms.is_some_and(|wait| wait > RETRY_AFTER_MAX_MS) {
        return None;
    }
    let doubled = BACKOFF_FIRST_MS << attempts.saturating_sub(1).min(16);
    Some(doubled.max(retry_after_ms.unwrap_or(0)))
}

/// Returns whether a page with this status may succeed later.
pub fn is_transient_status(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_spaces_starts_and_allows_one_request_at_a_time() {
        let mut pace = JobPace::new(8, Some(500));
        assert_eq!(pace.availability(Timestamp(10)), Availability::Now);
        pace.start(Timestamp(10));
        assert_eq!(pace.availability(Timestamp(900)), Availability::Busy);
        pace.end();
        assert_eq!(
            pace.availability(Timestamp(509)),
            Availability::At(Timestamp(510))
        );
        assert_eq!(pace.availability(Timestamp(510)), Availability::Now);
        assert_eq!(pace.robots_availability(), Availability::Now);
    }

    #[test]
    fn a_host_with_crawl_delay_gets_one_request_at_a_time() {
        let mut pace = HostPace::default();
        pace.start(Timestamp(0));
        assert_eq!(pace.availability(Timestamp(0)), Availability::Now);
        pace.end();
        pace.set_crawl_delay_ms(Some(2000));
        pace.start(Timestamp(5));
        assert_eq!(pace.availability(Timestamp(3000)), Availability::Busy);
        pace.end();
        assert_eq!(pace.availability(Timestamp(6)), Availability::At(Timestamp(2005)));
        pace.pause_until(Timestamp(9000));
        pace.pause_until(Timestamp(8000));
        assert_eq!(
            pace.availability(Timestamp(2005)),
            Availability::At(Timestamp(9000))
        );
    }

    #[test]
    fn crawl_delay_counts_from_a_start_before_robots_txt_arrived() {
        let mut pace = HostPace::default();
        pace.start(Timestamp(100));
        pace.end();
        pace.set_crawl_delay_ms(Some(2000));
        assert_eq!(
            pace.availability(Timestamp(150)),
            Availability::At(Timestamp(2100))
        );
        pace.record_request(Timestamp(2100));
        assert_eq!(
            pace.availability(Timestamp(2100)),
            Availability::At(Timestamp(4100))
        );
    }

    #[test]
    fn back_off_doubles_and_ends() {
        assert_eq!(backoff_ms(1, None), Some(1000));
        assert_eq!(backoff_ms(2, None), Some(2000));
        assert_eq!(backoff_ms(3, None), None);
        assert_eq!(backoff_ms(1, Some(5000)), Some(5000));
        assert_eq!(backoff_ms(2, Some(10)), Some(2000));
        assert_eq!(backoff_ms(1, Some(3_600_000)), None);
    }
}
