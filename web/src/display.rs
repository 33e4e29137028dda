//! Formats numbers, sizes, durations, dates and URLs for display.

use harvestman_core::day::Day;
use harvestman_core::time::Timestamp;

/// Formats a number with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun in singular or plural.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a size in bytes as B, KB or MB (powers of 1024).
pub fn bytes(size: usize) -> String {
    const KB: f64 = 1024.0;
    let size_f = size as f64;
    if size_f < KB {
        format!("{size} B")
    } else if size_f < KB * KB {
        format!("{:.0} KB", size_f / KB)
    } else {
        format!("{:.1} MB", size_f / (KB * KB))
    }
}

/// Formats a duration in its two largest units.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "-".to_owned();
    }
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => two_units(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two_units(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// Formats when a stored result expires.
pub fn expiry(seconds: f64) -> String {
    format!("result expires in {}", duration(seconds))
}

fn two_units(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// Formats a duration in ms, with milliseconds below one second.
pub fn duration_ms(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => duration(ms as f64 / 1000.0),
    }
}

/// Returns year and month (from 1) in UTC of a time in ms since 1970.
pub fn month_of(ms: u64) -> (i64, u32) {
    let (year, month, _) = date_of(ms);
    (year, month)
}

/// Formats the day in UTC of a time in ms since 1970, such as `2026-11-25`.
pub fn date(ms: u64) -> String {
    Day::of(Timestamp(ms)).to_string()
}

/// Returns year, month and day (from 1) in UTC of a time in ms since 1970.
pub fn date_of(ms: u64) -> (i64, u32, u32) {
    Day::of(Timestamp(ms)).year_month_day()
}

/// Returns the short name of a month (from 1).
pub fn month_name(month: u32) -> &'static str {
    const NAMES: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    NAMES[(month.clamp(1, 12) - 1) as usize]
}

/// Formats how long ago something was, in one unit.
pub fn ago(seconds: f64) -> String {
    if seconds < 2.0 {
        return "just now".to_owned();
    }
    let seconds = seconds as u64;
    let (number, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "min"),
        3_600..86_400 => (seconds / 3_600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{number} {unit} ago")
}

/// Formats a rate per second.
pub fn rate(per_second: f64) -> String {
    if !per_second.is_finite() || per_second <= 0.0 {
        "0".to_owned()
    } else if per_second < 10.0 {
        format!("{per_second:.1}")
    } else {
        count(per_second.round() as u64)
    }
}

/// Returns a URL without its scheme and trailing slashes.
pub fn short_url(url: &str) -> &str {
    without_scheme(url).trim_end_matches('/')
}

/// Returns the host of a URL, with its port if it has one.
pub fn host(url: &str) -> &str {
    short_url(url).split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns path and query of a URL.
pub fn url_path(url: &str) -> &str {
    let rest = without_scheme(url);
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "page", "pages"), "1 page");
    }

    #[test]
    fn durations_use_at_most_two_units() {
        assert_eq!(duration(3.2), "3 s");
        assert_eq!(duration(61.0), "1 min 1 s");
        assert_eq!(duration(7_200.0), "2 h");
        assert_eq!(duration(f64::INFINITY), "-");
        assert_eq!(ago(0.4), "just now");
        assert_eq!(ago(38.9), "38 s ago");
        assert_eq!(ago(200_000.0), "2 d ago");
    }

    #[test]
    fn times_map_to_calendar_months() {
        assert_eq!(month_of(0), (1970, 1));
        assert_eq!(month_of(951_782_399_999), (2000, 2));
        assert_eq!(month_of(951_868_800_000), (2000, 3));
        assert_eq!(month_of(1_796_083_200_000), (2026, 12));
        assert_eq!(month_of(1_798_761_599_999), (2026, 12));
        assert_eq!(month_of(1_798_761_600_000), (2027, 1));
        assert_eq!(
            (date(951_782_399_999), date(951_782_400_000)),
            ("2000-02-28".into(), "2000-02-29".into())
        );
        assert_eq!(
            (date(951_868_800_000), date(1_798_761_599_999)),
            ("2000-03-01".into(), "2026-12-31".into())
        );
        assert_eq!(month_name(12), "Dec");
        assert_eq!(duration_ms(840), "840 ms");
        assert_eq!(duration_ms(2_460), "2.5 s");
    }

    #[test]
    fn sizes_and_rates_are_rounded() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(14 * 1024), "14 KB");
        assert_eq!(bytes(3 * 1024 * 1024 / 2), "1.5 MB");
        assert_eq!(rate(48.21), "48");
        assert_eq!(rate(4.82), "4.8");
        assert_eq!(rate(f64::NAN), "0");
    }

    #[test]
    fn urls_are_shortened() {
        assert_eq!(
            short_url("https://docs.python.org/3/library/"),
            "docs.python.org/3/library"
        );
        assert_eq!(url_path("https://docs.python.org/3/?q=1"), "/3/?q=1");
        assert_eq!(url_path("https://docs.python.org"), "/");
    }
}
