//! Calendar months in UTC. Usage is summed and budgets are counted by month (docs/API.md sections 6.7,
//! 6.8 and 12).

use std::fmt;

use jiff::civil::Date;
use jiff::tz::Offset;

use crate::day::midnight;
use crate::time::Timestamp;

/// A calendar month in UTC, displayed as `2026-01`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Month {
    first_day: Date,
}

impl Month {
    /// Returns the month that contains `time`.
    pub fn of(time: Timestamp) -> Self {
        Self {
            first_day: Offset::UTC.to_datetime(time.to_jiff()).date().first_of_month(),
        }
    }

    /// Parses the displayed form `YYYY-MM`; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let first_day = format!("{text}-01").parse().ok()?;
        Some(Self { first_day }).filter(|month| month.to_string() == text)
    }

    /// Returns the first millisecond of the month.
    pub fn start(self) -> Timestamp {
        midnight(self.first_day)
    }

    /// Returns the last millisecond of the month.
    pub fn end(self) -> Timestamp {
        let next = self.first_day.last_of_month().tomorrow().unwrap_or(Date::MAX);
        Timestamp(midnight(next).0.saturating_sub(1))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.first_day.year(), self.first_day.month())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        serde_json::from_value(text.into()).unwrap()
    }

    #[test]
    fn months_begin_and_end_at_midnight_in_utc() {
        let check = |name: &str, start: &str, end: &str| {
            let (start, end) = (time(start), time(end));
            let month = Month::parse(name).unwrap();
            assert_eq!((month.start(), month.end()), (start, end), "{name}");
            assert_eq!(month.to_string(), name);
            for inside in [start, Timestamp(start.0 + (end.0 - start.0) / 2), end] {
                assert_eq!(Month::of(inside), month, "{inside}");
            }
            assert!(Month::of(Timestamp(end.0 + 1)) > month, "{name}");
            if start.0 > 0 {
                assert!(Month::of(Timestamp(start.0 - 1)) < month, "{name}");
            }
        };
        check("1970-01", "1970-01-01T00:00:00.000Z", "1970-01-31T23:59:59.999Z");
        check("2024-02", "2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z");
        check("2025-02", "2025-02-01T00:00:00.000Z", "2025-02-28T23:59:59.999Z");
        check("2100-02", "2100-02-01T00:00:00.000Z", "2100-02-28T23:59:59.999Z");
        check("2026-04", "2026-04-01T00:00:00.000Z", "2026-04-30T23:59:59.999Z");
        check("2026-12", "2026-12-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z");
        check("2027-01", "2027-01-01T00:00:00.000Z", "2027-01-31T23:59:59.999Z");
    }

    #[test]
    fn only_the_displayed_form_is_parsed() {
        for bad in [
            "", "2026", "2026-13", "2026-00", "2026-1", "26-01", "2026-01-01", "+002026-01",
        ] {
            assert_eq!(Month::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn no_time_is_too_late_for_a_month() {
        let last = Month::of(Timestamp(u64::MAX));
        assert!(last.start() < last.end());
        assert_eq!(Month::parse(&last.to_string()), Some(last));
    }
}
