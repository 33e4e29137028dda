//! Latencies of requests and their percentiles.

use std::time::Duration;

/// Latencies of one kind of request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    times: Vec<Duration>,
}

impl Latencies {
    pub(crate) fn push(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// Formats as `1234 requests: p50 1.2 ms, p99 3.4 ms, max 5.6 ms`.
    pub(crate) fn line(&self) -> String {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let Some(max) = sorted.last() else {
            return "no requests".to_owned();
        };
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        format!(
            "{} requests: p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            sorted.len(),
            ms(at(0.5)),
            ms(at(0.99)),
            ms(*max)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let mut latencies = Latencies::default();
        for ms in (1..=101).rev() {
            latencies.push(Duration::from_millis(ms));
        }
        assert_eq!(
            latencies.line(),
            "101 requests: p50 51.0 ms, p99 100.0 ms, max 101.0 ms"
        );
        assert_eq!(Latencies::default().line(), "no requests");
    }
}
