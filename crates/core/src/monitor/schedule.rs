//! Schedules: cron expressions, including those for schedules in words, and the times at which they fire.

mod words;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;

use crate::api::error::ApiError;
use crate::api::monitor::Schedule;
use crate::api::monitor_response::MonitorSchedule;
use crate::api::problem::{bad_field, shorten, under};
use crate::time::Timestamp;

/// Minimum pause between two checks.
const MIN_INTERVAL_MS: u64 = 5 * 60_000;
/// Number of consecutive times that are compared with [`MIN_INTERVAL_MS`].
const COMPARED_TIMES: usize = 60;
const MONTH_MS: u64 = 30 * 86_400_000;

/// A schedule that fires.
#[derive(Clone, Debug)]
pub struct Plan {
    cron: Cron,
    expression: String,
    zone: TimeZone,
    zone_name: String,
}

impl Plan {
    /// Compiles the schedule of a request. `now` is the time from which it must fire.
    ///
    /// # Errors
    /// 400 if it is not understood, never fires, or fires more often than every five minutes.
    pub fn new(schedule: &Schedule, now: Timestamp) -> Result<Self, ApiError> {
        let plan = Self::stored(schedule)?;
        let field = if schedule.cron.is_some() { "cron" } else { "text" };
        plan.check_interval(field, now)
            .map_err(|error| under("schedule", error))?;
        Ok(plan)
    }

    /// Compiles a schedule that [`Self::new`] accepted before.
    ///
    /// # Errors
    /// 400 if it is not understood.
    pub fn stored(schedule: &Schedule) -> Result<Self, ApiError> {
        Self::compile(schedule).map_err(|error| under("schedule", error))
    }

    fn compile(schedule: &Schedule) -> Result<Self, ApiError> {
        let (field, text) = match (&schedule.cron, &schedule.text) {
            (Some(cron), _) => ("cron", cron),
            (None, Some(text)) => ("text", text),
            (None, None) => return Err(bad_field("cron", "is required")),
        };
        let (expression, zone_in_text) = match field {
            "cron" => (text.split_whitespace().collect::<Vec<_>>().join(" "), None),
            _ => words::to_cron(text).map_err(|message| bad_field(field, message))?,
        };
        // Some clients always send their default, UTC.
        let named = schedule.timezone.as_ref();
        let zone_name = match (named, zone_in_text) {
            (Some(named), Some(other)) if named == "UTC" => other,
            (Some(named), Some(other)) if *named != other => {
                let message = format!("is `{}`, but the text names {other}", shorten(named));
                return Err(bad_field("timezone", message));
            }
            (Some(named), _) => named.clone(),
            (None, named) => named.unwrap_or_else(|| "UTC".to_owned()),
        };
        let zone = TimeZone::get(&zone_name).map_err(|_| {
            bad_field(
                "timezone",
                format!(
                    "must be a time zone by its IANA name such as Europe/Berlin, not `{}`",
                    shorten(&zone_name)
                ),
            )
        })?;
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser.parse(&expression).map_err(|error| {
            let message = format!("is not a cron expression such as `0 9 * * 1`: {error}");
            bad_field(field, message)
        })?;
        Ok(Self {
            cron,
            expression,
            zone_name: zone.iana_name().unwrap_or(&zone_name).to_owned(),
            zone,
        })
    }

    fn check_interval(&self, field: &str, now: Timestamp) -> Result<(), ApiError> {
        let times = self.times_after(now, COMPARED_TIMES);
        if times.is_empty() {
            let message = format!("never fires: no date matches `{}`", shorten(&self.expression));
            return Err(bad_field(field, message));
        }
        let close = times
            .windows(2)
            .find(|pair| pair[1].millis_since(pair[0]) < MIN_INTERVAL_MS);
        match close {
            None => Ok(()),
            Some(pair) => Err(bad_field(
                field,
                format!(
                    "must leave at least 5 minutes between two checks, but fires at {} and {}",
                    pair[0], pair[1]
                ),
            )),
        }
    }

    /// Returns the first time after `at`; `None` if there is none.
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        let at = at.to_jiff().to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&at, false).ok()?;
        u64::try_from(next.timestamp().as_millisecond())
            .ok()
            .map(Timestamp)
    }

    fn times_after(&self, at: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next_after(at), |last| self.next_after(*last))
            .take(count)
            .collect()
    }

    /// Estimates the number of checks in 30 days.
    pub fn checks_per_month(&self, now: Timestamp) -> u64 {
        let times = self.times_after(now, COMPARED_TIMES);
        let in_month = times
            .iter()
            .filter(|time| time.millis_since(now) < MONTH_MS)
            .count();
        match (times.first(), times.last()) {
            (Some(first), Some(last)) if in_month == COMPARED_TIMES => {
                (COMPARED_TIMES as u64 - 1) * MONTH_MS / last.millis_since(*first).max(1)
            }
            _ => in_month as u64,
        }
    }

    /// Returns the schedule as responses show it.
    pub fn to_response(&self) -> MonitorSchedule {
        MonitorSchedule {
            cron: self.expression.clone(),
            timezone: self.zone_name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-31T09:05:00Z, a Saturday.
    const NOW: Timestamp = Timestamp(1_769_850_300_000);

    fn schedule(cron: Option<&str>, text: Option<&str>, timezone: Option<&str>) -> Schedule {
        Schedule {
            cron: cron.map(str::to_owned),
            text: text.map(str::to_owned),
            timezone: timezone.map(str::to_owned),
        }
    }

    fn next(cron: &str, timezone: &str, count: usize) -> Vec<String> {
        let plan = Plan::new(&schedule(Some(cron), None, Some(timezone)), NOW).unwrap();
        plan.times_after(NOW, count)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn times_are_those_of_the_time_zone() {
        assert_eq!(next("0 9 * * 1", "UTC", 1), ["2026-02-02T09:00:00.000Z"]);
        assert_eq!(
            next("0 9 * * MON", "America/New_York", 1),
            ["2026-02-02T14:00:00.000Z"]
        );
        assert_eq!(
            next("*/30 * * * *", "UTC", 2),
            ["2026-01-31T09:30:00.000Z", "2026-01-31T10:00:00.000Z"]
        );
        // Germany's clocks go from 2:00 to 3:00 on 2026-03-29.
        let plan = Plan::new(&schedule(Some("0 9 * * *"), None, Some("Europe/Berlin")), NOW).unwrap();
        let before = Timestamp(1_774_602_000_000);
        let days: Vec<String> = plan
            .times_after(before, 3)
            .iter()
            .map(|time| time.to_string())
            .collect();
        assert_eq!(
            days,
            [
                "2026-03-28T08:00:00.000Z", "2026-03-29T07:00:00.000Z", "2026-03-30T07:00:00.000Z"
            ]
        );
    }

    #[test]
    fn a_schedule_that_cannot_work_is_refused_with_the_reason() {
        let check = |cron: &str, timezone: &str, expected: &str| {
            let error = Plan::new(&schedule(Some(cron), None, Some(timezone)), NOW).unwrap_err();
            assert_eq!(error.status(), 400);
            assert!(error.message.contains(expected), "{cron}: {error}");
            assert!(error.message.starts_with("`schedule."), "{error}");
        };
        check("0 0 30 2 *", "UTC", "never fires");
        check("* * * * *", "UTC", "at least 5 minutes");
        check("0,3 4 1 1 *", "UTC", "at least 5 minutes");
        check("*/7 * * * *", "UTC", "at least 5 minutes");
        check("61 * * * *", "UTC", "is not a cron expression");
        check("a b c d e", "UTC", "is not a cron expression");
        check("0 9 * * *", "Mars/Olympus", "IANA name");
    }

    #[test]
    fn words_name_the_time_zone_too() {
        let plan = Plan::new(&schedule(None, Some("daily at 9:00 Europe/Berlin"), None), NOW).unwrap();
        assert_eq!(
            plan.to_response(),
            MonitorSchedule {
                cron: "0 9 * * *".to_owned(),
                timezone: "Europe/Berlin".to_owned()
            }
        );
        let both = schedule(None, Some("daily at 9:00 Europe/Berlin"), Some("Asia/Tokyo"));
        assert!(
            Plan::new(&both, NOW)
                .unwrap_err()
                .message
                .contains("names Europe/Berlin")
        );
    }

    #[test]
    fn the_number_of_checks_is_estimated() {
        let check = |cron: &str, expected: u64| {
            let plan = Plan::new(&schedule(Some(cron), None, None), NOW).unwrap();
            let found = plan.checks_per_month(NOW);
            assert!(found.abs_diff(expected) * 20 <= expected, "{cron}: {found}");
        };
        check("*/5 * * * *", 8640);
        check("0 * * * *", 720);
        check("0 9 * * *", 30);
        check("0 0 15 * *", 1);
    }
}
