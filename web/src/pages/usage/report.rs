//! Usage by month or day and key, as data for the chart, the table and the CSV file.

use harvestman_core::api::console::DayUse;
use harvestman_core::api::team::CreditPeriod;
use harvestman_core::billing::tokens;
use harvestman_core::time::Timestamp;

use super::{Span, Unit};
use crate::display;

/// Minimum number of months, so that a first month is not shown alone.
const MIN_MONTHS: i64 = 12;
/// Number of days.
pub(super) const DAYS: u32 = 30;
/// Name for all keys together.
const ALL: &str = "all";
const DAY_MS: u64 = 86_400_000;

/// Usage in a month or on a day, of one key or of all.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct UsageEntry {
    /// Start of the month or day.
    start: Timestamp,
    key: String,
    amount: u64,
}

impl UsageEntry {
    /// Creates the entry of a month.
    pub(super) fn of_month(period: CreditPeriod, unit: Unit) -> Self {
        Self::new(
            period.start_date,
            period.api_key,
            unit.amount(period.credits_used, 0),
        )
    }

    /// Creates the entry of a day; `by_key` keeps its key.
    pub(super) fn of_day(day: DayUse, unit: Unit, by_key: bool) -> Self {
        let key = by_key.then_some(day.api_key);
        Self::new(day.date.start(), key, unit.amount(day.credits, day.pages))
    }

    fn new(start: Timestamp, key: Option<String>, amount: u64) -> Self {
        Self {
            start,
            key: key.unwrap_or_else(|| ALL.to_owned()),
            amount,
        }
    }
}

impl Unit {
    fn amount(self, credits: u64, pages: u64) -> u64 {
        match self {
            Unit::Credits => credits,
            Unit::Tokens => tokens(credits),
            Unit::Pages => pages,
        }
    }
}

impl Span {
    /// Returns the number of the month or day, counted from a fixed one.
    fn number(self, at: Timestamp) -> i64 {
        match self {
            Span::Month => {
                let (year, month) = display::month_of(at.0);
                year * 12 + i64::from(month) - 1
            }
            Span::Day => i64::try_from(at.0 / DAY_MS).unwrap_or(i64::MAX),
        }
    }
}

/// Usage of one month or day.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Period {
    span: Span,
    number: i64,
    /// Amounts in the order of the keys.
    pub(super) parts: Vec<u64>,
}

impl Period {
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().sum()
    }

    /// Returns the label below the bar.
    pub(super) fn short(&self) -> String {
        match self.span {
            Span::Month => display::month_name(self.month().1).to_owned(),
            Span::Day => self.date().2.to_string(),
        }
    }

    pub(super) fn name(&self) -> String {
        match self.span {
            Span::Month => format!("{} {}", self.short(), self.month().0),
            Span::Day => {
                let (year, month, day) = self.date();
                format!("{day} {} {year}", display::month_name(month))
            }
        }
    }

    /// Returns the machine-readable name, such as `2026-01` or `2026-01-31`.
    fn id(&self) -> String {
        match self.span {
            Span::Month => format!("{}-{:02}", self.month().0, self.month().1),
            Span::Day => display::date(self.number.max(0) as u64 * DAY_MS),
        }
    }

    fn month(&self) -> (i64, u32) {
        (self.number.div_euclid(12), self.number.rem_euclid(12) as u32 + 1)
    }

    fn date(&self) -> (i64, u32, u32) {
        display::date_of(self.number.max(0) as u64 * DAY_MS)
    }
}

/// Usage by month or day, with an amount for each key.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Report {
    pub(super) span: Span,
    /// Keys, highest usage first.
    pub(super) keys: Vec<String>,
    /// Months or days, oldest first, without gaps, up to the current one.
    pub(super) periods: Vec<Period>,
}

impl Report {
    /// Builds the report; `now` is in ms since 1970.
    pub(super) fn of(span: Span, entries: Vec<UsageEntry>, now: u64) -> Self {
        let mut sums: Vec<(String, u64)> = Vec::new();
        for entry in &entries {
            match sums.iter_mut().find(|(key, _)| *key == entry.key) {
                Some((_, sum)) => *sum += entry.amount,
                None => sums.push((entry.key.clone(), entry.amount)),
            }
        }
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let keys: Vec<String> = sums.into_iter().map(|(key, _)| key).collect();
        let last = span.number(Timestamp(now));
        let first = match span {
            Span::Month => {
                let first = entries.iter().map(|entry| span.number(entry.start)).min();
                first.unwrap_or(last).min(last + 1 - MIN_MONTHS)
            }
            Span::Day => last + 1 - i64::from(DAYS),
        };
        let mut periods: Vec<Period> = (first..=last)
            .map(|number| Period {
                span,
                number,
                parts: vec![0; keys.len()],
            })
            .collect();
        for entry in &entries {
            let at = usize::try_from(span.number(entry.start) - first).ok();
            let key = keys.iter().position(|key| *key == entry.key);
            if let (Some(period), Some(key)) = (at.and_then(|at| periods.get_mut(at)), key) {
                period.parts[key] += entry.amount;
            }
        }
        Self { span, keys, periods }
    }

    /// Returns whether there is no usage.
    pub(super) fn is_empty(&self) -> bool {
        self.periods.iter().all(|period| period.total() == 0)
    }

    /// Returns whether usage is split by key.
    pub(super) fn is_split(&self) -> bool {
        self.keys.iter().any(|key| key != ALL)
    }

    /// Returns CSV with one line per month or day and key with usage.
    pub(super) fn csv(&self, unit: &str) -> String {
        let span = self.span.word();
        let mut text = match self.is_split() {
            true => format!("{span},key,{unit}\n"),
            false => format!("{span},{unit}\n"),
        };
        for period in &self.periods {
            for (key, amount) in self
                .keys
                .iter()
                .zip(&period.parts)
                .filter(|(_, amount)| **amount > 0)
            {
                text.push_str(&period.id());
                text.push(',');
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
        let report = Report::of(Span::Month, vec![entry(1_796_083_200_000, None, 7)], NOW);
        assert_eq!(report.periods.len() as i64, MIN_MONTHS);
        assert_eq!(report.periods[0].name(), "Jan 2026");
        assert_eq!(
            report.periods.last().map(|month| (month.name(), month.total())),
            Some(("Dec 2026".to_owned(), 7))
        );
        assert!(!report.is_split() && Report::of(Span::Month, Vec::new(), NOW).is_empty());
        assert_eq!(report.csv("credits"), "month,credits\n2026-12,7\n");
    }

    #[test]
    fn keys_have_the_same_order_in_every_month() {
        let november = 1_793_491_200_000;
        let report = Report::of(
            Span::Month,
            vec![
                entry(november, Some("a"), 1),
                entry(november, Some("=b\"c"), 5),
                entry(1_796_083_200_000, Some("a"), 2),
            ],
            NOW,
        );
        assert_eq!(report.keys, ["=b\"c", "a"]);
        assert_eq!(report.periods[10].parts, [5, 1]);
        assert_eq!(report.periods[11].parts, [0, 2]);
        assert_eq!(
            report.csv("tokens"),
            "month,key,tokens\n2026-11,\"'=b\"\"c\",5\n2026-11,\"a\",1\n2026-12,\"a\",2\n"
        );
    }

    #[test]
    fn the_last_days_end_with_today() {
        let report = Report::of(Span::Day, vec![entry(NOW - 2 * DAY_MS, None, 7)], NOW);
        assert_eq!(report.periods.len() as u32, DAYS);
        let used = report.periods.iter().find(|day| day.total() > 0).unwrap();
        assert_eq!(
            (used.name(), used.short()),
            ("13 Dec 2026".to_owned(), "13".to_owned())
        );
        assert_eq!(
            report.periods.last().map(Period::name).as_deref(),
            Some("15 Dec 2026")
        );
        assert_eq!(report.csv("pages"), "day,pages\n2026-12-13,7\n");
    }
}
