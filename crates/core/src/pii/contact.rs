//! E-mail addresses and phone numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::digits::{Run, runs};

/// Longest local part and domain of an e-mail address (RFC 5321 section 4.5.3.1).
const MAX_LOCAL_CHARS: usize = 64;
const MAX_DOMAIN_CHARS: usize = 255;

/// Fewest and most digits of an international number (ITU-T E.164).
const MIN_DIGITS: usize = 8;
const MAX_DIGITS: usize = 15;
/// Fewest digits of a number that a word such as "phone" precedes.
const MIN_LABELLED_DIGITS: usize = 5;
/// How far before a number its label may begin, in bytes.
const LABEL_BYTES: usize = 24;

/// Words before a phone number.
const PHONE_LABELS: &[&str] = &[
    "tel", "phone", "telephone", "telefon", "telefono", "teléfono", "téléphone", "fon", "fax", "telefax",
    "mobile", "mobil", "handy", "cell", "call", "whatsapp", "sms", "hotline", "durchwahl", "dial",
];

/// Endings of file names, which follow an `@` in names such as `logo@2x.png`.
const FILE_ENDINGS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "css", "js", "mjs", "json", "html", "woff",
];

/// An address that is written to deceive programs: `jane [at] example [dot] com`.
static SPELLED_OUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[a-z0-9_.+-]+ ?[\[({] ?(?:at|@) ?[\])}] ?[a-z0-9-]+(?: ?(?:[\[({] ?(?:dot|punkt|\.) ?[\])}]|\.| dot ) ?[a-z0-9-]+){1,4}",
    )
    .expect("a constant pattern compiles")
});

/// Finds e-mail addresses.
pub(super) fn emails(text: &str, found: &mut dyn FnMut(usize, usize)) {
    for at in memchr::memchr_iter(b'@', text.as_bytes()) {
        let local = text[..at]
            .char_indices()
            .rev()
            .take(MAX_LOCAL_CHARS)
            .take_while(|(_, c)| c.is_alphanumeric() || "._%+-'".contains(*c))
            .last();
        let Some((start, _)) = local else {
            continue;
        };
        let trimmed = text[start..at].trim_start_matches(|c: char| !c.is_alphanumeric());
        if trimmed.is_empty() {
            continue;
        }
        if let Some(length) = domain(&text[at + 1..]) {
            found(at - trimmed.len(), at + 1 + length);
        }
    }
    for address in SPELLED_OUT.find_iter(text) {
        found(address.start(), address.end());
    }
}

/// Returns the length of the domain name at the start of a text.
fn domain(text: &str) -> Option<usize> {
    let end = text
        .char_indices()
        .take(MAX_DOMAIN_CHARS)
        .find(|(_, c)| !(c.is_alphanumeric() || matches!(c, '-' | '.')))
        .map(|(end, _)| end);
    let end = end.unwrap_or_else(|| {
        let limit = text.char_indices().nth(MAX_DOMAIN_CHARS);
        limit.map_or(text.len(), |(limit, _)| limit)
    });
    let name = &text[..end];
    let name = &name[..name.find("..").unwrap_or(name.len())];
    let mut name = name.trim_end_matches(['.', '-']);
    // The end of a sentence may follow without a space: `a@b.test.2024`.
    while let Some((rest, top)) = name.rsplit_once('.') {
        let is_name = top.chars().count() >= 2 && top.chars().all(char::is_alphabetic);
        let is_file = FILE_ENDINGS.contains(&top.to_ascii_lowercase().as_str());
        if is_file {
            return None;
        }
        if is_name || top.starts_with("xn--") {
            return (!rest.is_empty() && !rest.starts_with(['.', '-'])).then_some(name.len());
        }
        name = rest;
    }
    None
}

/// Finds phone numbers. `is_aggressive` also accepts plausible numbers that have no typical form.
pub(super) fn phones(text: &str, is_aggressive: bool, found: &mut dyn FnMut(usize, usize)) {
    runs(text, |run| {
        if let Some((first, count)) = phone(text, run, is_aggressive) {
            let start = match first {
                0 => run.start,
                _ => run.groups[first].start,
            };
            let last = first + count - 1;
            if !run.continues_after(last) {
                found(start, run.groups[last].end);
            }
        }
    });
}

/// Returns the groups of a run that are a phone number: the first, and how many.
fn phone(text: &str, run: &Run<'_>, is_aggressive: bool) -> Option<(usize, usize)> {
    let whole = run.groups_within(MAX_DIGITS);
    let digits = run.count(whole);
    if whole == 0 {
        return None;
    }
    let first = run.digits(0);
    let is_date = is_date(run);
    let opens = run.first();
    if opens == '+' || text[run.start..].starts_with("(+") {
        return (MIN_DIGITS..=MAX_DIGITS).contains(&digits).then_some((0, whole));
    }
    if is_labelled(text, run.start) && digits >= MIN_LABELLED_DIGITS && !is_date {
        return Some((0, whole));
    }
    if let Some(found) = (0..run.groups.len()).find_map(|start| north_american(run, start)) {
        return Some(found);
    }
    if is_date || is_dotted_quad(run) || whole < run.groups.len() {
        return None;
    }
    let is_international = first.starts_with("00") && !first.starts_with("000") && digits >= 10;
    let is_split = run.groups.len() > 1;
    let is_decimal = first.len() == 1 && is_split && run.separator(1) == ".";
    let has_trunk_prefix = first.starts_with('0')
        && !first.starts_with("00")
        && is_split
        && !is_decimal
        && first.len() <= 5
        && (9..=13).contains(&digits);
    let has_area_code = opens == '('
        && is_split
        && run.separator(1).starts_with(')')
        && (2..=5).contains(&first.len())
        && !is_year(first)
        && digits >= 7;
    let is_plausible = is_aggressive
        && match is_split {
            true => digits >= 7 && (1..run.groups.len()).any(|index| run.separator(index) != "."),
            false => digits >= 10,
        };
    (is_international || has_trunk_prefix || has_area_code || is_plausible).then_some((0, whole))
}

/// Returns the groups of a number such as `(555) 123-4567` or `1-555-123-4567`.
fn north_american(run: &Run<'_>, start: usize) -> Option<(usize, usize)> {
    let lengths: Vec<usize> = run.groups[start..]
        .iter()
        .take(4)
        .map(|group| group.len())
        .collect();
    let (first, count) = match lengths.as_slice() {
        [3, 3, 4, ..] => (start, 3),
        [1, 3, 3, 4] if run.digits(start) == "1" => (start + 1, 4),
        _ => return None,
    };
    let is_code = |index: usize| run.digits(index).as_bytes()[0] >= b'2';
    let joint = |index: usize| {
        matches!(
            run.separator(index),
            " " | "-" | "." | ") " | ")" | "\u{a0}" | ")-"
        )
    };
    let follows_decimal = start > 0 && run.separator(start) == ".";
    (is_code(first) && is_code(first + 1) && joint(first + 1) && joint(first + 2) && !follows_decimal)
        .then_some((start, count))
}

fn is_date(run: &Run<'_>) -> bool {
    if run.groups.len() < 3 {
        return false;
    }
    let is_short = |index: usize| run.groups[index].len() <= 2;
    (is_short(0) && is_short(1) && is_year(run.digits(2)))
        || (is_year(run.digits(0)) && is_short(1) && is_short(2))
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
}

fn is_dotted_quad(run: &Run<'_>) -> bool {
    run.groups.len() == 4
        && (1..4).all(|index| run.separator(index) == ".")
        && run.groups.iter().all(|group| group.len() <= 3)
}

/// Returns whether a word such as "phone" precedes an offset.
fn is_labelled(text: &str, at: usize) -> bool {
    let before = &text[text.floor_char_boundary(at.saturating_sub(LABEL_BYTES))..at];
    let before = before
        .trim_end_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    PHONE_LABELS.iter().any(|label| {
        before
            .strip_suffix(label)
            .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    })
}
