//! The time filter `tbs`: `qdr:d`, `cdr:1,cd_min:1/31/2026,cd_max:2/28/2026`, `sbd:1`, comma-separated.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::time::Timestamp;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// Unit of `qdr`, which selects the last n units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecentUnit {
    /// Hours.
    Hour,
    /// Days.
    Day,
    /// Weeks.
    Week,
    /// Months.
    Month,
    /// Years.
    Year,
}

/// A time range, open where nothing is set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// Unit and count of `qdr`.
    pub recent: Option<(RecentUnit, u64)>,
    /// First and last day of `cdr`, as `2026-01-31`.
    pub days: (Option<String>, Option<String>),
    /// Start, inclusive.
    pub from: Option<Timestamp>,
    /// End, exclusive.
    pub until: Option<Timestamp>,
    /// Sort by date, newest first, instead of by rank.
    pub by_date: bool,
}

impl Window {
    /// Parses a filter that passed validation; ignores parts that make no sense.
    pub fn of(tbs: &str, now: Timestamp) -> Self {
        let mut window = Self::default();
        for part in tbs.split(',') {
            match part.trim().split_once(':') {
                Some(("qdr", span)) => window.recent(span, now),
                Some(("sbd", flag)) => window.by_date = flag == "1",
                Some(("cd_min", day)) => {
                    if let Some(day) = civil(day) {
                        window.from = midnight(day);
                        window.days.0 = Some(day.to_string());
                    }
                }
                Some(("cd_max", day)) => {
                    if let Some(day) = civil(day) {
                        window.until = day.tomorrow().ok().and_then(midnight);
                        window.days.1 = Some(day.to_string());
                    }
                }
                _ => {}
            }
        }
        window
    }

    /// Returns whether a day such as `2026-01-31` is in the range of days. An unknown day is.
    pub fn allows_day(&self, day: Option<&str>) -> bool {
        let (first, last) = (self.days.0.as_deref(), self.days.1.as_deref());
        day.is_none_or(|day| first.is_none_or(|first| first <= day) && last.is_none_or(|last| day <= last))
    }

    fn recent(&mut self, span: &str, now: Timestamp) {
        let unit = span.trim_end_matches(|c: char| c.is_ascii_digit());
        let (recent, unit_ms) = match unit {
            "h" => (RecentUnit::Hour, HOUR_MS),
            "d" => (RecentUnit::Day, DAY_MS),
            "w" => (RecentUnit::Week, 7 * DAY_MS),
            "m" => (RecentUnit::Month, 31 * DAY_MS),
            _ => (RecentUnit::Year, 366 * DAY_MS),
        };
        let count = span[unit.len()..].parse().unwrap_or(1).max(1);
        self.recent = Some((recent, count));
        self.from = Some(Timestamp(now.0.saturating_sub(unit_ms.saturating_mul(count))));
    }
}

/// Parses `1/31/2026`.
fn civil(text: &str) -> Option<Date> {
    let mut numbers = text.split('/').map(|number| number.parse::<i16>().ok());
    let (month, day, year) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn midnight(day: Date) -> Option<Timestamp> {
    let time = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
    u64::try_from(time.as_millisecond()).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ranges_are_parsed() {
        let now = Timestamp(1_769_850_300_000);
        let day = Window::of("qdr:d", now);
        assert_eq!(day.from, Some(Timestamp(now.0 - DAY_MS)));
        assert_eq!(day.recent, Some((RecentUnit::Day, 1)));
        let hours = Window::of("qdr:h12,sbd:1", now);
        assert_eq!(
            (hours.from, hours.by_date),
            (Some(Timestamp(now.0 - 12 * HOUR_MS)), true)
        );
        let days = Window::of("cdr:1,cd_min:1/31/2026,cd_max:2/28/2026", now);
        assert_eq!(days.from.unwrap().to_string(), "2026-01-31T00:00:00.000Z");
        assert_eq!(days.until.unwrap().to_string(), "2026-03-01T00:00:00.000Z");
        assert_eq!(
            days.days,
            (Some("2026-01-31".to_owned()), Some("2026-02-28".to_owned()))
        );
        assert!(
            days.allows_day(Some("2026-02-28"))
                && days.allows_day(None)
                && !days.allows_day(Some("2026-03-01"))
        );
        assert_eq!(Window::of("cdr:1,cd_min:31/1/2026", now), Window::default());
    }
}
