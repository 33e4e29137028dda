//! Times in cells of workbooks. `office_oxide` takes a time of day or a duration for a number, or a date in 1900.

use office_oxide::ir::TableCell;

/// Returns the text of a cell whose format shows a time of day, such as `h:mm`, or a duration, such as `[h]:mm:ss`.
pub(super) fn text(cell: &TableCell) -> Option<String> {
    let days = cell.raw_number.filter(|days| (0.0..1e6).contains(days))?;
    let format = Format::parse(cell.number_format.as_deref()?)?;
    let seconds = (days * 86_400.0).round() as u64;
    let (minutes, last) = (seconds / 60, seconds % 60);
    let last = if format.seconds {
        format!(":{last:02}")
    } else {
        String::new()
    };
    Some(match format.largest {
        Largest::Day => format!("{:02}:{:02}{last}", minutes / 60 % 24, minutes % 60),
        Largest::Hours => format!("{}:{:02}{last}", minutes / 60, minutes % 60),
        Largest::Minutes => format!("{minutes}{last}"),
        Largest::Seconds => seconds.to_string(),
    })
}

/// Returns whether a number format shows a time of day or a duration, without a date.
pub(super) fn is_time(format: &str) -> bool {
    Format::parse(format).is_some()
}

/// What a number format shows of a time.
struct Format {
    largest: Largest,
    seconds: bool,
}

/// What a time is part of, or the unit that a duration is counted in.
enum Largest {
    Day,
    Hours,
    Minutes,
    Seconds,
}

impl Format {
    /// Parses the first section of a format; `None` if it does not show a time alone.
    fn parse(format: &str) -> Option<Format> {
        let mut found = Format {
            largest: Largest::Day,
            seconds: false,
        };
        let mut has_time = false;
        let mut characters = format.chars();
        while let Some(character) = characters.next() {
            match character.to_ascii_lowercase() {
                ';' => break,
                '\\' | '_' | '*' => {
                    characters.next();
                }
                '"' => {
                    characters.by_ref().find(|next| *next == '"');
                }
                '[' => {
                    let inner: String = characters.by_ref().take_while(|next| *next != ']').collect();
                    found.largest = match inner.to_ascii_lowercase().as_str() {
                        "h" | "hh" => Largest::Hours,
                        "m" | "mm" => Largest::Minutes,
                        "s" | "ss" => Largest::Seconds,
                        // A color, a condition or a locale.
                        _ => continue,
                    };
                    has_time = true;
                }
                'h' => has_time = true,
                's' => (has_time, found.seconds) = (true, true),
                'y' | 'd' => return None,
                _ => {}
            }
        }
        has_time.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_shown_as_their_format_says() {
        let check = |days: f64, format: &str, expected: Option<&str>| {
            let cell = TableCell {
                raw_number: Some(days),
                number_format: Some(format.to_owned()),
                ..TableCell::default()
            };
            assert_eq!(text(&cell).as_deref(), expected, "{days} {format}");
        };
        let time = (13.0 * 3600.0 + 5.0 * 60.0 + 7.0) / 86_400.0;
        check(time, "h:mm:ss", Some("13:05:07"));
        check(time, "h:mm AM/PM", Some("13:05"));
        check(45_293.0 + time, "[$-409]hh:mm;@", Some("13:05"));
        check(1.25, "[h]:mm:ss", Some("30:00:00"));
        check(1.25, "[hh]:mm", Some("30:00"));
        check(time, "[mm]:ss", Some("785:07"));
        check(time, "mm:ss.0", Some("13:05:07"));
        check(time, "[s]", Some("47107"));
        check(0.999_999_9, "h:mm", Some("00:00"));
        check(45_293.5, "yyyy-mm-dd hh:mm", None);
        check(45_293.0, "mmm", None);
        check(1.5, "0.0 \"hours\"", None);
        check(1.5, "[Red]0.0", None);
        check(-1.5, "[h]:mm", None);
    }
}
