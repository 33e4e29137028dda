//! Converts texts of pages to numbers, dates, booleans and URLs, or to `None` if a text has another form.

use url::Url;

use super::names;

/// Parses the first number of a text in any locale: `$1,299.00` and `1.299,00 €` are both `1299`.
pub(super) fn number(text: &str) -> Option<f64> {
    // A date is not a number, nor are the digits of an identifier.
    if text.len() >= 8 && harvestman_content::parse_day(text).is_some() {
        return None;
    }
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let before = &text[..start];
    if before
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphabetic() && c.is_ascii())
        && !ends_with_currency(before)
    {
        return None;
    }
    let written = span(&text[start..]);
    let rest = &text[start + written.len()..];
    let mut value: f64 = plain(written, uses_decimal_comma(text))?.parse().ok()?;
    value *= factor(rest);
    let signed = before.trim_end_matches(|c: char| c.is_whitespace() || "$€£¥".contains(c));
    let negative =
        signed.ends_with(['-', '−']) && !signed[..signed.len() - 1].ends_with(char::is_alphanumeric);
    value.is_finite().then_some(if negative { -value } else { value })
}

fn ends_with_currency(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    matches!(
        word.to_ascii_uppercase().as_str(),
        "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD" | "US" | "KR" | "RS" | "R" | "C" | "A"
    )
}

/// Returns whether the currency suggests a locale with a point as thousands separator.
fn uses_decimal_comma(text: &str) -> bool {
    ["€", "EUR", "kr", "CHF", "zł", "R$", "₺"]
        .iter()
        .any(|mark| text.contains(mark))
}

/// Returns the leading digits of a text with the separators between them. A space separates groups of three.
fn span(text: &str) -> &str {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let joins = match c {
            '0'..='9' => true,
            '.' | ',' => digits > 0,
            '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => digits == 3,
            _ => false,
        };
        if !joins {
            break;
        }
        end = at + c.len_utf8();
    }
    &text[..end]
}

/// Converts digits with separators to Rust's number syntax.
fn plain(written: &str, decimal_comma: bool) -> Option<String> {
    let only: String = written
        .chars()
        .filter(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .collect();
    let count = |mark: char| only.matches(mark).count();
    let groups = |mark: char| only.split(mark).skip(1).all(|group| group.len() == 3);
    let decimal = match (count('.'), count(',')) {
        (0, 0) => None,
        (1, 0) if decimal_comma && groups('.') => None,
        (1, 0) => Some('.'),
        (0, 1) if groups(',') && !only.starts_with("0,") => None,
        (0, 1) => Some(','),
        (_, 0) | (0, _) => None,
        _ => only.chars().rev().find(|c| matches!(c, '.' | ',')),
    };
    let Some(decimal) = decimal else {
        return Some(only.replace(['.', ','], ""));
    };
    let (whole, part) = only.rsplit_once(decimal)?;
    Some(format!("{}.{part}", whole.replace(['.', ','], "")))
}

/// Returns the factor of a suffix: `1.2k`, `3 million`.
fn factor(rest: &str) -> f64 {
    let word: String = rest
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let close = !rest.starts_with(char::is_whitespace);
    match word.as_str() {
        "k" | "K" if close => 1e3,
        "M" if close => 1e6,
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        _ => 1.0,
    }
}

/// Parses an ISO 8601 duration such as `PT1H30M` to seconds.
pub(super) fn duration_s(text: &str) -> Option<f64> {
    let rest = text.trim().strip_prefix('P')?;
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    let part = |text: &str, units: &[(char, f64)]| -> Option<f64> {
        let mut sum = 0.0;
        let mut digits = String::new();
        for c in text.chars() {
            if c.is_ascii_digit() || c == '.' {
                digits.push(c);
                continue;
            }
            let (_, unit) = units.iter().find(|(name, _)| *name == c)?;
            sum += digits.parse::<f64>().ok()? * unit;
            digits.clear();
        }
        digits.is_empty().then_some(sum)
    };
    let days = part(days, &[('D', 86_400.0), ('W', 604_800.0)])?;
    Some(days + part(time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?)
}

/// Parses a date to the form `2026-01-31`.
pub(super) fn date(text: &str) -> Option<String> {
    harvestman_content::parse_day(text).filter(|day| day.parse::<jiff::civil::Date>().is_ok())
}

/// Converts a date and time to RFC 3339. The default zone is UTC, the default time midnight.
pub(super) fn time(text: &str) -> Option<String> {
    let text = text.trim();
    if is_time(text) {
        return Some(text.to_owned());
    }
    if let Ok(local) = text.parse::<jiff::civil::DateTime>() {
        return Some(format!("{local:.0}Z"));
    }
    date(text).map(|day| format!("{day}T00:00:00Z"))
}

/// Returns whether a text is a date and time with a zone.
pub(super) fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Finds an email address in a text.
pub(super) fn email(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let word = text
        .split(|c: char| c.is_whitespace() || "<>(),;?".contains(c))
        .find(|word| {
            word.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty()
                    && host.contains('.')
                    && !host.starts_with('.')
                    && !host.ends_with('.')
                    && !host.contains('@')
            })
        })?;
    Some(word.to_owned())
}

/// Parses a URL, resolved against the page's.
pub(super) fn url(text: &str, base: Option<&Url>) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    let is_path = text.starts_with(['/', '.', '?', '#']) || text.contains('/');
    match Url::parse(text) {
        Ok(url) => Some(url.into()),
        Err(_) => base.filter(|_| is_path)?.join(text).ok().map(String::from),
    }
}

/// Parses a text that means yes or no.
pub(super) fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    let name = text
        .rsplit('/')
        .next()
        .filter(|_| text.starts_with("http"))
        .unwrap_or(text);
    match names::key(name).as_str() {
        "true"
        | "yes"
        | "y"
        | "1"
        | "on"
        | "in stock"
        | "instock"
        | "available"
        | "in store only"
        | "online only"
        | "limited availability"
        | "available now"
        | "ja"
        | "oui"
        | "si" => Some(true),
        "false"
        | "no"
        | "n"
        | "0"
        | "off"
        | "out of stock"
        | "outofstock"
        | "sold out"
        | "soldout"
        | "discontinued"
        | "unavailable"
        | "not available"
        | "currently unavailable"
        | "back order"
        | "nein"
        | "non" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_in_any_locale() {
        for (text, expected) in [
            ("$1,299.00", Some(1299.0)),
            ("1.299,00 €", Some(1299.0)),
            ("1.299 €", Some(1299.0)),
            ("1.299", Some(1.299)),
            ("1 299,50 kr", Some(1299.5)),
            ("CHF 1'299.–", Some(1299.0)),
            ("EUR9.5", Some(9.5)),
            ("12,5 kg", Some(12.5)),
            ("1,234,567 views", Some(1_234_567.0)),
            ("0,125", Some(0.125)),
            ("4.5 out of 5", Some(4.5)),
            ("1.2k", Some(1200.0)),
            ("3 million", Some(3_000_000.0)),
            ("5 m", Some(5.0)),
            ("-7 °C", Some(-7.0)),
            ("-$5", Some(-5.0)),
            ("1. first", Some(1.0)),
            ("A-100", Some(100.0)),
            ("B2", None),
            ("2026-01-31", None),
            ("free", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_dates_and_times_are_parsed() {
        assert_eq!(duration_s("PT1H30M"), Some(5400.0));
        assert_eq!(duration_s("P1DT0.5S"), Some(86_400.5));
        assert_eq!(duration_s("soon"), None);
        assert_eq!(duration_s("P1"), None);
        assert_eq!(date("31 Jan 2026").as_deref(), Some("2026-01-31"));
        assert_eq!(date("2026-02-31"), None);
        for (text, expected) in [
            ("2026-01-31T10:00:00+02:00", "2026-01-31T10:00:00+02:00"),
            ("2026-01-31T10:00", "2026-01-31T10:00:00Z"),
            ("2026-01-31 10:00:59.999", "2026-01-31T10:00:59Z"),
            ("January 31, 2026", "2026-01-31T00:00:00Z"),
        ] {
            assert_eq!(time(text).as_deref(), Some(expected));
        }
        assert_eq!(time("soon"), None);
    }

    #[test]
    fn urls_are_resolved_and_booleans_are_parsed() {
        let base = Url::parse("https://a.test/x/").unwrap();
        assert_eq!(url("../b", Some(&base)).as_deref(), Some("https://a.test/b"));
        assert_eq!(url("https://b.test", None).as_deref(), Some("https://b.test/"));
        assert_eq!(url("a word", Some(&base)), None);
        assert_eq!(url("word", Some(&base)), None);
        assert_eq!(email("Write to <ann@a.test>.").as_deref(), Some("ann@a.test"));
        assert_eq!(
            email("mailto:ann@a.test?subject=x").as_deref(),
            Some("ann@a.test")
        );
        assert_eq!(email("ann at a.test"), None);
        assert_eq!(boolean("https://schema.org/InStock"), Some(true));
        assert_eq!(boolean("http://schema.org/OutOfStock"), Some(false));
        assert_eq!(boolean("Sold out"), Some(false));
        assert_eq!(boolean("perhaps"), None);
    }
}
