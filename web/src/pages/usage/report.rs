//! Usage by month and key, as data for the chart, the table and the CSV file.

use harvestman_core::time::Timestamp;

use crate::display;

/// Minimum number of months, so that a first month is not shown alone.
const MIN_MONTHS: usize = 12;
/// Name for all keys together.
const ALL: &str = "all";

/// Usage in a month, of one key or of all.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct UsageEntry {
    month: (i64, u32),
    key: String,
    amount: u64,
}

impl UsageEntry {
    pub(super) fn new(start: Timestamp, key: Option<String>, amount: u64) -> Self {
        Self {
            month: display::month_of(start.0),
            key: key.unwrap_or_else(|| ALL.to_owned()),
            amount,
        }
    }
}

/// Usage of one month.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Month {
    year: i64,
    month: u32,
    /// Amounts in the order of the keys.
    pub(super) parts: Vec<u64>,
}

impl Month {
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().sum()
    }

    pub(super) fn short(&self) -> &'static str {
        display::month_name(self.month)
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.short(), self.year)
    }
}

/// Usage by month, with an amount for each key.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Report {
    /// Keys, highest usage first.
    pub(super) keys: Vec<String>,
    /// Months, oldest first, without gaps, up to the current month.
    pub(super) months: Vec<Month>,
}

impl Report {
    /// Builds the report; `now` is in ms since 1970.
    pub(super) fn of(entries: Vec<UsageEntry>, now: u64) -> Self {
        let mut sums: Vec<(String, u64)> = Vec::new();
        for entry in &entries {
            match sums.iter_mut().find(|(key, _)| *key == entry.key) {
                Some((_, sum)) => *sum += entry.amount,
                None => sums.push((entry.key.clone(), entry.amount)),
            }
        }
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let keys: Vec<String> = sums.into_iter().map(|(key, _)| key).collect();
        let number = |(year, month): (i64, u32)| year * 12 + i64::from(month) - 1;
        let last = number(display::month_of(now));
        let first = entries
            .iter()
            .map(|entry| number(entry.month))
            .min()
            .unwrap_or(last);
        let first = first.min(last + 1 - MIN_MONTHS as i64);
        let mut months: Vec<Month> = (first..=last)
            .map(|at| Month {
                year: at.div_euclid(12),
                month: at.rem_euclid(12) as u32 + 1,
                parts: vec![0; keys.len()],
            })
            .collect();
        for entry in &entries {
            let month = usize::try_from(number(entry.month) - first).ok();
            let key = keys.iter().position(|key| *key == entry.key);
            if let (Some(month), Some(key)) = (month.and_then(|at| months.get_mut(at)), key) {
                month.parts[key] += entry.amount;
            }
        }
        Self { keys, months }
    }

    /// Returns whether there is no usage.
    pub(super) fn is_empty(&self) -> bool {
        self.months.iter().all(|month| month.total() == 0)
    }

    /// Returns whether usage is split by key.
    pub(super) fn is_split(&self) -> bool {
        self.keys.iter().any(|key| key != ALL)
    }

    /// Returns CSV with one line per month and key with usage.
    pub(super) fn csv(&self, unit: &str) -> String {
        let mut text = match self.is_split() {
            true => format!("month,key,{unit}\n"),
            false => format!("month,{unit}\n"),
        };
        for month in &self.months {
            for (key, amount) in self
                .keys
                .iter()
                .zip(&month.parts)
                .filter(|(_, amount)| **amount > 0)
            {
                text.push_str(&format!("{}-{:02},", month.year, month.month));
                if self.is_split() {
                    text.push_str(&quote(key));
                    text.push(',');
                }
                text.push_str(&format!("{amount}\n"));
            }
        }
        text
    }
}

/// Quotes a CSV field so that no spreadsheet evaluates it as a formula.
fn quote(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@']) {
        "'"
    } else {
        ""
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time in the middle of December 2026.
    const NOW: u64 = 1_797_300_000_000;

    fn entry(start: u64, key: Option<&str>, amount: u64) -> UsageEntry {
        UsageEntry::new(Timestamp(start), key.map(str::to_owned), amount)
    }

    #[test]
    fn months_without_usage_are_included() {
        let report = Report::of(vec![entry(1_796_083_200_000, None, 7)], NOW);
        assert_eq!(report.months.len(), MIN_MONTHS);
        assert_eq!(report.months[0].name(), "Jan 2026");
        assert_eq!(
            report.months.last().map(|month| (month.name(), month.total())),
            Some(("Dec 2026".to_owned(), 7))
        );
        assert!(!report.is_split() && Report::of(Vec::new(), NOW).is_empty());
        assert_eq!(report.csv("credits"), "month,credits\n2026-12,7\n");
    }

    #[test]
    fn keys_have_the_same_order_in_every_month() {
        let november = 1_793_491_200_000;
        let report = Report::of(
            vec![
                entry(november, Some("a"), 1),
                entry(november, Some("=b\"c"), 5),
                entry(1_796_083_200_000, Some("a"), 2),
            ],
            NOW,
        );
        assert_eq!(report.keys, ["=b\"c", "a"]);
        assert_eq!(report.months[10].parts, [5, 1]);
        assert_eq!(report.months[11].parts, [0, 2]);
        assert_eq!(
            report.csv("tokens"),
            "month,key,tokens\n2026-11,\"'=b\"\"c\",5\n2026-11,\"a\",1\n2026-12,\"a\",2\n"
        );
    }
}
