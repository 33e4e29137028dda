//! Parses keys, durations and counts.

use crate::interact::words::{Word, without_first};
use crate::limits::MAX_STEP_REPEATS;

/// Returns the DOM name of a key: `Enter`, `ArrowDown`, `Control+a`.
pub(super) fn key(words: &str) -> Option<String> {
    let joined = words.replace(" + ", "+").replace('-', "+");
    if joined.contains('+') && joined.len() > 1 || joined.contains(' ') {
        let parts: Vec<&str> = joined.split(['+', ' ']).filter(|part| !part.is_empty()).collect();
        let (last, held) = parts.split_last()?;
        let held: Option<Vec<&str>> = held
            .iter()
            .map(|part| match *part {
                "control" | "ctrl" | "strg" => Some("Control"),
                "shift" => Some("Shift"),
                "alt" | "option" => Some("Alt"),
                "command" | "cmd" | "meta" => Some("Meta"),
                _ => None,
            })
            .collect();
        if let Some(held) = held
            && !held.is_empty()
        {
            return Some(format!("{}+{}", held.join("+"), key(last)?));
        }
    }
    let squeezed: String = words.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let name = match squeezed.as_str() {
        "enter" | "return" => "Enter",
        "tab" => "Tab",
        "escape" | "esc" => "Escape",
        "space" | "spacebar" => "Space",
        "backspace" => "Backspace",
        "delete" | "del" => "Delete",
        "home" => "Home",
        "end" => "End",
        "pageup" => "PageUp",
        "pagedown" => "PageDown",
        "arrowdown" | "downarrow" | "down" => "ArrowDown",
        "arrowup" | "uparrow" | "up" => "ArrowUp",
        "arrowleft" | "leftarrow" | "left" => "ArrowLeft",
        "arrowright" | "rightarrow" | "right" => "ArrowRight",
        other => {
            let number = other
                .strip_prefix('f')
                .and_then(|number| number.parse::<u8>().ok());
            if number.is_some_and(|number| (1..=12).contains(&number)) {
                return Some(other.to_uppercase());
            }
            return (other.chars().count() == 1).then(|| other.to_owned());
        }
    };
    Some(name.to_owned())
}

/// Parses `2 seconds`, `500ms`, `half a minute` or `a moment` to ms.
pub(super) fn duration(words: &[Word]) -> Option<u64> {
    let (first, rest) = words.split_first()?;
    if let Some(at) = first.lower.find(|c: char| c.is_alphabetic())
        && at > 0
        && rest.is_empty()
    {
        let count: f64 = first.lower[..at].parse().ok()?;
        return Some((count * unit(&first.lower[at..])? as f64) as u64);
    }
    if first.is(&["half"]) {
        let rest = without_first(rest, &["a", "an"]);
        return rest
            .first()
            .and_then(|word| unit(&word.lower))
            .map(|unit| unit / 2);
    }
    if first.is(&["a", "an", "one", "some"]) {
        let rest = without_first(rest, &["few", "couple", "little", "short", "brief"]);
        let several = words.iter().any(|word| word.is(&["few", "couple", "some"]));
        let rest = without_first(rest, &["of"]);
        let unit = rest.first().and_then(|word| unit(&word.lower))?;
        return Some(if several { 3 * unit } else { unit });
    }
    let count: f64 = first
        .lower
        .parse()
        .ok()
        .or_else(|| number(first).map(|number| number as f64))?;
    let unit = match rest.first() {
        // Without a unit, small numbers are seconds.
        None if count < 100.0 => 1_000,
        None => 1,
        Some(word) => unit(&word.lower)?,
    };
    (count.is_finite() && count >= 0.0).then_some((count * unit as f64) as u64)
}

fn unit(word: &str) -> Option<u64> {
    match word {
        "ms" | "millisecond" | "milliseconds" | "msec" | "millis" => Some(1),
        "s" | "sec" | "secs" | "second" | "seconds" | "moment" | "while" | "bit" => Some(1_000),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60_000),
        _ => None,
    }
}

/// Splits off a trailing `3 times` or `twice`.
pub(super) fn repeats(words: &[Word]) -> (&[Word], u32) {
    match words {
        [rest @ .., twice] if twice.is(&["twice"]) => (rest, 2),
        [rest @ .., once] if once.is(&["once"]) => (rest, 1),
        [rest @ .., count, times] if times.is(&["times"]) => match number(count) {
            Some(count) => (
                rest,
                u32::try_from(count)
                    .unwrap_or(u32::MAX)
                    .clamp(1, MAX_STEP_REPEATS),
            ),
            None => (words, 1),
        },
        _ => (words, 1),
    }
}

pub(super) fn number(word: &Word) -> Option<u64> {
    let known = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    word.lower.parse().ok().or_else(|| {
        known
            .iter()
            .position(|known| word.lower == *known)
            .map(|at| at as u64)
    })
}
