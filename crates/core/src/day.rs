//! Calendar days in UTC. Usage is summed by day.

use std::fmt;

use jiff::Span;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::Timestamp;

/// A calendar day in UTC, displayed and serialized as `2026-01-31`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day(Date);

impl Day {
    /// Returns the day that contains `time`.
    pub fn of(time: Timestamp) -> Self {
        Self(Offset::UTC.to_datetime(time.to_jiff()).date())
    }

    /// Parses the displayed form `YYYY-MM-DD`; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let day = text.parse().ok()?;
        Some(Self(day)).filter(|day| day.to_string() == text)
    }

    /// Returns the first millisecond of the day.
    pub fn start(self) -> Timestamp {
        midnight(self.0)
    }

    /// Returns year, month (from 1) and day (from 1).
    pub fn year_month_day(self) -> (i64, u32, u32) {
        let Self(date) = self;
        (
            date.year().into(),
            date.month().unsigned_abs().into(),
            date.day().unsigned_abs().into(),
        )
    }

    /// Returns the day this many days earlier, but no day before the year 0.
    pub fn minus(self, days: u32) -> Self {
        let span = Span::new().try_days(days);
        let day = span.and_then(|span| self.0.checked_sub(span));
        Self(day.unwrap_or(Date::ZERO))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(date) = self;
        write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not a day such as 2026-01-31"))
    }
}

/// Returns the first millisecond of a day in UTC.
pub(crate) fn midnight(day: Date) -> Timestamp {
    let time = Offset::UTC
        .to_timestamp(day.at(0, 0, 0, 0))
        .unwrap_or(jiff::Timestamp::MAX);
    Timestamp(u64::try_from(time.as_millisecond()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_utc() {
        let day = |text: &str| Day::of(serde_json::from_value(text.into()).unwrap());
        assert_eq!(day("2026-11-25T00:00:00.000Z").to_string(), "2026-11-25");
        assert_eq!(day("2026-11-25T23:59:59.999Z").to_string(), "2026-11-25");
        assert_eq!(day("2024-03-01T00:00:00.000Z").minus(1).to_string(), "2024-02-29");
        assert_eq!(Day::of(Timestamp(0)).minus(u32::MAX).to_string(), "0000-01-01");
        let start = Day::parse("2026-11-25").unwrap().start();
        assert_eq!(start.to_string(), "2026-11-25T00:00:00.000Z");
        assert!(Day::parse("2026-11-25").unwrap() < Day::parse("2026-12-01").unwrap());
        for bad in [
            "", "2026-11", "2026-02-30", "2026-1-1", "2026-11-25T00", "26-11-25",
        ] {
            assert_eq!(Day::parse(bad), None, "{bad:?}");
        }
    }
}
