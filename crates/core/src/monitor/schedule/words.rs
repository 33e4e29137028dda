//! Schedules in words: `every 30 minutes`, `hourly`, `daily at 9:00`, `weekdays at 18:30`, `every Monday at 9am`,
//! `monthly on the 15th at noon`, each with an optional time zone at its end.

const EXAMPLES: &str = "`every 30 minutes`, `hourly`, `daily at 9:00`, `weekdays at 18:30`, `every monday at 9am` or \
                        `monthly on the 1st at 6:00`; or give `cron`";
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// Maximum times of day.
const MAX_TIMES: usize = 24;

/// Time of day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    hour: u32,
    minute: u32,
}

const MIDNIGHT: Time = Time { hour: 0, minute: 0 };

/// Returns the cron expression and the time zone that a text names. The error is the rest of a sentence that
/// begins with the field.
pub(super) fn to_cron(text: &str) -> Result<(String, Option<String>), String> {
    let not_understood = || format!("is not understood: write {EXAMPLES}");
    let (text, zone) = split_zone(text.trim());
    let text = text.to_lowercase().replace(',', " and ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (day, times) = match words.iter().position(|word| *word == "at") {
        Some(at) => (&words[..at], Some(times(&words[at + 1..])?)),
        None => (&words[..], None),
    };
    if times.is_none()
        && let Some(cron) = interval(day)?
    {
        return Ok((cron, zone));
    }
    let fields = if is_daily(day) || (day.is_empty() && times.is_some()) {
        "* * *".to_owned()
    } else if let Some(days) = weekdays(day) {
        format!("* * {days}")
    } else if let Some(date) = day_of_month(day)? {
        format!("{date} * *")
    } else {
        return Err(not_understood());
    };
    Ok((format!("{} {fields}", clock(times)?), zone))
}

/// Splits a time zone such as `Europe/Berlin` or `UTC` off the end, with `in` before it.
fn split_zone(text: &str) -> (&str, Option<String>) {
    let Some((rest, last)) = text.rsplit_once(char::is_whitespace) else {
        return (text, None);
    };
    let is_zone = last.contains('/') || last.eq_ignore_ascii_case("utc");
    if !is_zone {
        return (text, None);
    }
    let rest = rest.trim_end();
    let rest = rest.strip_suffix(" in").unwrap_or(rest);
    let zone = match last.contains('/') {
        true => last.to_owned(),
        false => "UTC".to_owned(),
    };
    (rest, Some(zone))
}

fn is_daily(words: &[&str]) -> bool {
    matches!(
        words,
        ["daily"] | ["every", "day"] | ["each", "day"] | ["once", "a", "day"]
    )
}

/// Reads intervals within a day.
fn interval(words: &[&str]) -> Result<Option<String>, String> {
    let cron = match words {
        ["hourly"] | ["every", "hour"] | ["each", "hour"] | ["once", "an", "hour"] => "0 * * * *".to_owned(),
        ["every", "half", "hour"] | ["half-hourly"] | ["twice", "an", "hour"] => "*/30 * * * *".to_owned(),
        ["every", "quarter", "hour"] => "*/15 * * * *".to_owned(),
        ["twice", "daily"] | ["twice", "a", "day"] => "0 0,12 * * *".to_owned(),
        ["every", number, unit] if number.parse::<u32>().is_ok() => {
            let number: u32 = number.parse().map_err(|_| "has no number".to_owned())?;
            match unit.trim_end_matches('s') {
                "minute" | "min" | "m" => every(number, 60, "minutes", "*/N * * * *", "0 * * * *")?,
                "hour" | "hr" | "h" => every(number, 24, "hours", "0 */N * * *", "0 0 * * *")?,
                "day" if number == 1 => "0 0 * * *".to_owned(),
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(cron))
}

/// Returns the expression for every `number` of units. Cron counts from the start of the hour or day, so the
/// number has to divide it.
fn every(number: u32, whole: u32, unit: &str, cron: &str, once: &str) -> Result<String, String> {
    if number == whole {
        return Ok(once.to_owned());
    }
    if number == 0 || number > whole || !whole.is_multiple_of(number) {
        let divisors: Vec<String> = (1..=whole)
            .filter(|divisor| whole.is_multiple_of(*divisor) && (whole == 24 || *divisor >= 5))
            .map(|divisor| divisor.to_string())
            .collect();
        let span = if whole == 60 { "an hour" } else { "a day" };
        return Err(format!(
            "names {number} {unit}, which does not divide {span} evenly: use {}",
            divisors.join(", ")
        ));
    }
    Ok(cron.replace('N', &number.to_string()))
}

/// Reads days of the week, as cron writes them.
fn weekdays(words: &[&str]) -> Option<String> {
    if matches!(words, ["weekly"] | ["every", "week"] | ["once", "a", "week"]) {
        return Some("1".to_owned());
    }
    let mut words = words;
    for opening in ["every", "each", "week", "weekly", "on"] {
        words = words.strip_prefix(&[opening]).unwrap_or(words);
    }
    match words {
        ["weekdays" | "weekday"] | ["working", "days"] => return Some("1-5".to_owned()),
        ["weekends" | "weekend"] => return Some("0,6".to_owned()),
        _ => {}
    }
    let mut days = Vec::new();
    for word in words
        .iter()
        .filter(|word| !matches!(**word, "and" | "every" | "on"))
    {
        let name = word.trim_end_matches('s');
        let full = [
            "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
        ];
        let day = (0..7).find(|day| name == full[*day] || *word == WEEKDAYS[*day])?;
        days.push(day);
    }
    days.sort_unstable();
    days.dedup();
    let days: Vec<String> = days.iter().map(ToString::to_string).collect();
    (!days.is_empty()).then(|| days.join(","))
}

/// Reads a day of the month: `monthly`, `monthly on the 15th`, `every month on the 1st`.
fn day_of_month(words: &[&str]) -> Result<Option<u32>, String> {
    let rest = match words {
        ["monthly", rest @ ..] | ["every", "month", rest @ ..] | ["once", "a", "month", rest @ ..] => rest,
        ["on", "the", _, "of", "every" | "each", "month"] => &words[..3],
        _ => return Ok(None),
    };
    let day = match rest {
        [] => return Ok(Some(1)),
        ["on", "the", day] | ["on", "day", day] | ["on", day] => day,
        _ => return Ok(None),
    };
    let number = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match number.parse() {
        Ok(day @ 1..=28) => Ok(Some(day)),
        Ok(29..=31) => Err(format!(
            "names day {number}, which some months do not have: use 1 to 28"
        )),
        _ => Ok(None),
    }
}

/// Reads times of day.
fn times(words: &[&str]) -> Result<Vec<Time>, String> {
    let joined = words.join(" ");
    let mut times = Vec::new();
    for part in joined
        .split(" and ")
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        times.push(time(&part.replace(' ', "")).ok_or_else(|| {
            format!(
                "has `{}` where a time such as 9:00, 9am or noon is needed",
                crate::api::problem::shorten(part)
            )
        })?);
    }
    times.sort_unstable();
    times.dedup();
    match times.len() {
        0 => Err("has no time after `at`".to_owned()),
        1..=MAX_TIMES => Ok(times),
        _ => Err(format!("names more than {MAX_TIMES} times")),
    }
}

fn time(text: &str) -> Option<Time> {
    match text {
        "noon" | "midday" => return Some(Time { hour: 12, minute: 0 }),
        "midnight" => return Some(MIDNIGHT),
        _ => {}
    }
    let (text, half) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(text), _) => (text, Some(0)),
        (_, Some(text)) => (text, Some(12)),
        _ => (text, None),
    };
    let (hour, minute) = text.split_once([':', '.']).unwrap_or((text, "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        None => hour,
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
    };
    (hour < 24 && minute < 60).then_some(Time { hour, minute })
}

/// Returns the minute and hour fields of cron; midnight without times.
fn clock(times: Option<Vec<Time>>) -> Result<String, String> {
    let times = times.unwrap_or_else(|| vec![MIDNIGHT]);
    let minute = times.first().map_or(0, |time| time.minute);
    if times.iter().any(|time| time.minute != minute) {
        return Err(
            "names times with different minutes, which one schedule cannot have: use the same minute"
                .to_owned(),
        );
    }
    let hours: Vec<String> = times.iter().map(|time| time.hour.to_string()).collect();
    Ok(format!("{minute} {}", hours.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_become_cron() {
        for (text, cron) in [
            ("every 30 minutes", "*/30 * * * *"),
            ("Every 5 min", "*/5 * * * *"),
            ("every 60 minutes", "0 * * * *"),
            ("hourly", "0 * * * *"),
            ("every hour", "0 * * * *"),
            ("every 2 hours", "0 */2 * * *"),
            ("every 24 hours", "0 0 * * *"),
            ("daily", "0 0 * * *"),
            ("daily at 9:00", "0 9 * * *"),
            ("every day at 9", "0 9 * * *"),
            ("at 7:15 pm", "15 19 * * *"),
            ("at 9:00 and 18:00", "0 9,18 * * *"),
            ("twice a day", "0 0,12 * * *"),
            ("weekdays at 18:30", "30 18 * * 1-5"),
            ("every weekday at noon", "0 12 * * 1-5"),
            ("weekends at 10am", "0 10 * * 0,6"),
            ("weekly", "0 0 * * 1"),
            ("every monday at 9am", "0 9 * * 1"),
            ("Mondays and Thursdays at 8:00", "0 8 * * 1,4"),
            ("weekly on fri at 17:00", "0 17 * * 5"),
            ("tue, thu at midnight", "0 0 * * 2,4"),
            ("monthly", "0 0 1 * *"),
            ("monthly on the 15th at 6:00", "0 6 15 * *"),
            ("every month on the 1st at 12:30", "30 12 1 * *"),
            ("on the 3rd of every month", "0 0 3 * *"),
        ] {
            assert_eq!(to_cron(text), Ok((cron.to_owned(), None)), "{text}");
        }
        let zoned = to_cron("daily at 9:00 in America/New_York").unwrap();
        assert_eq!(
            zoned,
            ("0 9 * * *".to_owned(), Some("America/New_York".to_owned()))
        );
        assert_eq!(to_cron("hourly utc").unwrap().1.as_deref(), Some("UTC"));
    }

    #[test]
    fn other_words_are_refused_with_what_would_work() {
        for (text, expected) in [
            ("whenever it changes", "`every 30 minutes`"),
            ("every 7 minutes", "use 5, 6, 10, 12, 15, 20, 30, 60"),
            ("every 90 minutes", "does not divide an hour"),
            ("every 0 hours", "does not divide a day"),
            ("daily at 25:00", "where a time such as"),
            ("daily at", "no time after"),
            ("daily at 13pm", "where a time such as"),
            ("at 9:00 and 18:30", "different minutes"),
            ("monthly on the 31st", "use 1 to 28"),
            ("every", "`every 30 minutes`"),
            ("", "`every 30 minutes`"),
        ] {
            let error = to_cron(text);
            assert!(
                error.as_ref().is_err_and(|error| error.contains(expected)),
                "{text}: {error:?}"
            );
        }
    }
}
