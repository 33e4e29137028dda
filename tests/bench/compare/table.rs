//! Medians with their spread, and ratios to this server in the same round.

use std::fmt;

use crate::compare::Measurement;
use crate::compare::peer::Peer;

/// The figures of all rounds on one site. The first column is this server.
pub(super) struct Table {
    names: Vec<&'static str>,
    rounds: Vec<Vec<Measurement>>,
}

impl Table {
    pub(super) fn new(peers: &[Peer]) -> Table {
        Table {
            names: peers.iter().map(Peer::name).collect(),
            rounds: Vec::new(),
        }
    }

    /// Adds the figures of a round, in the order of the peers.
    pub(super) fn add(&mut self, round: Vec<Measurement>) {
        self.rounds.push(round);
    }

    fn values(&self, peer: usize, figure: fn(&Measurement) -> f64) -> Spread {
        Spread::of(self.rounds.iter().map(|round| figure(&round[peer])))
    }

    /// Returns this server's figure divided by that of the peer.
    fn ratios(&self, peer: usize, figure: fn(&Measurement) -> f64) -> Spread {
        Spread::of(
            self.rounds
                .iter()
                .map(|round| figure(&round[0]) / figure(&round[peer]).max(1e-9)),
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | pages/s | CPU s per 1000 pages | peak MiB |")?;
        writeln!(f, "|---|---|---|---|")?;
        for (peer, name) in self.names.iter().enumerate() {
            let speed = self.values(peer, Measurement::pages_per_s);
            let cpu = self.values(peer, Measurement::cpu_s_per_1000);
            let peak = self.values(peer, Measurement::peak_mib);
            writeln!(f, "| {name} | {speed:.0} | {cpu:.2} | {peak:.0} |")?;
        }
        for (peer, name) in self.names.iter().enumerate().skip(1) {
            let speed = self.ratios(peer, Measurement::pages_per_s);
            let cpu = self.ratios(peer, Measurement::cpu_s_per_1000);
            let peak = self.ratios(peer, Measurement::peak_mib);
            writeln!(f, "| harvestman : {name} | {speed:.2} | {cpu:.2} | {peak:.2} |")?;
        }
        Ok(())
    }
}

/// Median with the smallest and largest value.
struct Spread {
    sorted: Vec<f64>,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        Spread { sorted }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().unwrap_or(2);
        let [first, .., last] = &self.sorted[..] else {
            return match self.sorted.first() {
                Some(only) => write!(f, "{only:.precision$}"),
                None => f.write_str("-"),
            };
        };
        let middle = self.sorted.len() / 2;
        let median = match self.sorted.len() % 2 {
            0 => f64::midpoint(self.sorted[middle - 1], self.sorted[middle]),
            _ => self.sorted[middle],
        };
        write!(
            f,
            "{median:.precision$} ({first:.precision$} to {last:.precision$})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_same_round() {
        let measurement = |wall_s| Measurement {
            pages: 100,
            wall_s,
            cpu_s: 1.0,
            peak_bytes: 1 << 20,
        };
        let table = Table {
            names: vec!["harvestman", "other"],
            rounds: [(1.0, 2.0), (2.0, 2.0), (4.0, 2.0)]
                .map(|(own, other)| vec![measurement(own), measurement(other)])
                .into(),
        };
        let text = table.to_string();
        assert!(
            text.contains("| harvestman | 50 (25 to 100) | 10.00 (10.00 to 10.00) | 1 (1 to 1) |"),
            "{text}"
        );
        assert!(
            text.contains("| harvestman : other | 1.00 (0.50 to 2.00) |"),
            "{text}"
        );
    }
}
