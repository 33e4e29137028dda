//! Payment cards and bank accounts, by their check digits.

use std::sync::LazyLock;

use regex::Regex;

use super::digits::{Run, runs};

/// Groups in which card numbers are written.
const CARD_GROUPS: &[&[usize]] = &[&[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4]];

/// Length of the IBAN of each country (ISO 13616 registry).
const IBAN_LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

/// A number that a word such as "account number" precedes.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:account|acct|routing|sort code|kontonummer|konto|blz|bankleitzahl|card)(?: ?(?:number|no|nr|#))?\.?["']?\s?[:#=]?\s?["']?([0-9][0-9 -]{4,22}[0-9])"#,
    )
    .expect("a constant pattern compiles")
});

/// Finds card and account numbers. `aggressive` accepts numbers after a label without check digits.
pub(super) fn find(text: &str, is_aggressive: bool, found: &mut dyn FnMut(usize, usize)) {
    runs(text, |run| {
        let mut index = 0;
        while index < run.groups.len() {
            match card(run, index) {
                Some(count) => {
                    found(run.groups[index].start, run.groups[index + count - 1].end);
                    index += count;
                }
                None => index += 1,
            }
        }
    });
    ibans(text, found);
    if is_aggressive {
        for captures in LABELLED.captures_iter(text) {
            if let Some(number) = captures.get(1) {
                found(number.start(), number.end());
            }
        }
    }
}

/// Returns how many groups from `start` are a card number.
fn card(run: &Run<'_>, start: usize) -> Option<usize> {
    // Digits of a fraction.
    if start > 0 && run.separator(start) == "." {
        return None;
    }
    let groups = &run.groups[start..];
    let is_grouped = |lengths: &[usize]| {
        groups.len() >= lengths.len()
            && lengths
                .iter()
                .zip(groups)
                .all(|(length, group)| group.len() == *length)
            && (start + 1..start + lengths.len()).all(|index| run.separator(index).chars().count() == 1)
    };
    let whole = (13..=19).contains(&groups[0].len()).then_some(1);
    let grouped = || {
        CARD_GROUPS
            .iter()
            .rev()
            .filter(|lengths| is_grouped(lengths))
            .map(|lengths| lengths.len())
    };
    whole.into_iter().chain(grouped()).find(|count| {
        let number: String = (start..start + count).map(|index| run.digits(index)).collect();
        !run.continues_after(start + count - 1) && is_issued(&number) && passes_luhn(&number)
    })
}

/// Returns whether a number starts as the cards of a known network do, and has their length.
fn is_issued(number: &str) -> bool {
    let prefix = |length: usize| number[..length].parse::<u32>().unwrap_or(0);
    let length = number.len();
    match (prefix(1), prefix(2), prefix(3), prefix(4)) {
        (4, ..) => matches!(length, 13 | 16 | 19),
        (_, 51..=55, ..) | (_, _, _, 2221..=2720) => length == 16,
        (_, 34 | 37, ..) => length == 15,
        (_, 36 | 38 | 39, ..) | (_, _, 300..=305 | 309, _) => (14..=19).contains(&length),
        (_, 65, ..) | (_, _, 644..=649, _) | (_, _, _, 6011) => (16..=19).contains(&length),
        (_, 35, ..) | (_, 62 | 81, ..) => (16..=19).contains(&length),
        (_, 50 | 56..=58 | 67, ..) | (_, _, _, 6304 | 6390) => (13..=19).contains(&length),
        _ => false,
    }
}

/// Checks the last digit of a card number (ISO/IEC 7812-1 annex B).
fn passes_luhn(number: &str) -> bool {
    let digits = number.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let sum: u32 = digits
        .enumerate()
        .map(|(index, digit)| match index % 2 {
            0 => digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn ibans(text: &str, found: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 4 <= bytes.len() {
        let is_candidate = bytes[at].is_ascii_alphabetic()
            && bytes[at + 1].is_ascii_alphabetic()
            && bytes[at + 2].is_ascii_digit()
            && bytes[at + 3].is_ascii_digit();
        match is_candidate.then(|| iban(text, at)).flatten() {
            Some(end) => {
                found(at, end);
                at = end;
            }
            None => at += 1,
        }
    }
}

/// Returns the end of the IBAN that starts at an offset.
fn iban(text: &str, start: usize) -> Option<usize> {
    let is_inside_word = text[..start]
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric);
    let country = text[start..start + 2].to_ascii_uppercase();
    let (_, length) = IBAN_LENGTHS.iter().find(|(code, _)| *code == country)?;
    if is_inside_word {
        return None;
    }
    let mut number = Vec::with_capacity(*length);
    let mut was_separator = false;
    for (offset, c) in text[start..].char_indices() {
        if number.len() == *length {
            return (!c.is_alphanumeric() && passes_mod_97(&number)).then_some(start + offset);
        }
        match c {
            _ if c.is_ascii_alphanumeric() => {
                number.push(c.to_ascii_uppercase());
                was_separator = false;
            }
            ' ' | '-' | '\u{a0}' | '\u{202f}' if !was_separator => was_separator = true,
            _ => return None,
        }
    }
    (number.len() == *length && passes_mod_97(&number)).then_some(text.len())
}

/// Checks the check digits of an IBAN (ISO 7064, mod 97-10).
fn passes_mod_97(number: &[char]) -> bool {
    let moved = number[4..].iter().chain(&number[..4]);
    let rest = moved.fold(0, |rest, c| match c.to_digit(36).unwrap_or(0) {
        digit @ 0..=9 => (rest * 10 + digit) % 97,
        letter => (rest * 100 + letter) % 97,
    });
    rest == 1
}
