//! Judges by rules whether a change matters for a goal in words: by the direction of numbers (`the price falls`),
//! else by the words that the goal and the changed lines share.

use std::collections::{BTreeSet, VecDeque};

use crate::api::change_report::{DiffChunk, DiffFile, DiffFiles, DiffLine, MarkdownDiff};
use crate::api::monitor_response::{Confidence, Judgment, MeaningfulChange};
use crate::text::{Words, is_stop_word};

/// Maximum changes that a judgment lists.
const MAX_CHANGES: usize = 20;
/// Maximum changed lines that are judged.
const MAX_LINES: usize = 2000;
/// Maximum characters of a quoted line.
const MAX_QUOTED_CHARS: usize = 300;
/// Words of a goal that name no subject.
const FILLER: &[&str] = &[
    "notify", "tell", "alert", "inform", "know", "let", "me", "change", "chang", "any", "anything", "someth",
    "page", "pag", "site", "websit", "new", "update", "updat", "appear", "get", "got", "add", "remov",
    "please", "pleas", "want", "see", "watch", "monitor", "track", "whenever", "every", "tim", "time", "i'm",
    "interest",
];
/// Codes of currencies (ISO 4217) that prices are often written with.
const CURRENCIES: &[&str] = &[
    "AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "INR", "JPY",
    "KRW", "MXN", "NOK", "NZD", "PLN", "RON", "SEK", "SGD", "THB", "TRY", "USD", "ZAR",
];
/// Words of a goal that waits for a lower number.
const FALL: &[&str] = &[
    "fall", "drop", "decreas", "decrease", "below", "lower", "cheap", "cheaper", "under", "less", "reduc",
    "reduced",
];
/// Words of a goal that waits for a higher number.
const RISE: &[&str] = &[
    "rise", "ris", "increas", "increase", "above", "higher", "exceed", "grow",
];

/// One changed line, or a pair of an old and a new one.
struct Change {
    before: Option<String>,
    after: Option<String>,
    /// Unchanged line above, often a heading.
    context: String,
}

/// Direction in which the numbers of a goal have to move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Fall,
    Rise,
}

/// Judges a difference by a goal.
pub fn judge(goal: &str, diff: &MarkdownDiff) -> Judgment {
    let changes = changes(diff);
    let words: BTreeSet<String> = Words::of(goal).collect();
    let is_one_of = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let direction = match (is_one_of(FALL), is_one_of(RISE)) {
        (true, false) => Some(Direction::Fall),
        (false, true) => Some(Direction::Rise),
        _ => None,
    };
    let subject: BTreeSet<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !is_stop_word(word) && ![FILLER, FALL, RISE].concat().contains(word))
        .filter(|word| word.parse::<f64>().is_err())
        .collect();
    if subject.is_empty() && direction.is_none() {
        return meaningful(
            changes,
            Confidence::Medium,
            "The goal names no subject, so every change counts.",
        );
    }
    if let Some(direction) = direction {
        return judge_numbers(direction, goal, &subject, changes);
    }
    let (about, other): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| change.mentions(&subject));
    if !about.is_empty() {
        return meaningful(
            about,
            Confidence::Medium,
            "Changed lines mention words of the goal.",
        );
    }
    let near: Vec<Change> = other
        .into_iter()
        .filter(|change| shares(&change.context, &subject))
        .collect();
    match near.is_empty() {
        false => meaningful(
            near,
            Confidence::Low,
            "Lines changed below a line that mentions words of the goal.",
        ),
        true => not_meaningful(Confidence::Medium, "No changed line mentions a word of the goal."),
    }
}

/// Judges a page or search result that is new, by its title and description.
pub fn judge_new(goal: &str, text: &str) -> Judgment {
    let diff_line = DiffLine::Add {
        content: format!("+{text}"),
        ln: 1,
    };
    let diff = MarkdownDiff {
        text: String::new(),
        json: DiffFiles {
            files: vec![DiffFile {
                from: String::new(),
                to: String::new(),
                chunks: vec![DiffChunk {
                    content: String::new(),
                    changes: vec![diff_line],
                }],
            }],
        },
    };
    judge(goal, &diff)
}

fn judge_numbers(
    direction: Direction,
    goal: &str,
    subject: &BTreeSet<&str>,
    changes: Vec<Change>,
) -> Judgment {
    let threshold = threshold(goal);
    let mut matching = Vec::new();
    let mut has_other = false;
    for change in changes {
        let (Some(before), Some(after)) = (&change.before, &change.after) else {
            continue;
        };
        if !subject.is_empty()
            && !change.mentions(subject)
            && !shares(&change.context, subject)
            && !has_price(after)
        {
            continue;
        }
        let pairs = numbers(before).into_iter().zip(numbers(after));
        let Some((old, new)) = pairs.into_iter().find(|(old, new)| old != new) else {
            continue;
        };
        let is_past = threshold.is_none_or(|limit| match direction {
            Direction::Fall => new <= limit,
            Direction::Rise => new >= limit,
        });
        let change_direction = if new < old {
            Direction::Fall
        } else {
            Direction::Rise
        };
        if change_direction == direction && is_past {
            matching.push((change, old, new));
        } else {
            has_other = true;
        }
    }
    let Some((_, old, new)) = matching.first() else {
        return match has_other {
            true => not_meaningful(Confidence::High, "Numbers changed, but not as the goal says."),
            false => not_meaningful(
                Confidence::Medium,
                "The numbers that the goal refers to have not changed.",
            ),
        };
    };
    let reason = format!("A number went from {old} to {new}, as the goal says.");
    meaningful(
        matching.into_iter().map(|(change, ..)| change),
        Confidence::High,
        &reason,
    )
}

/// Returns the number that a goal compares with: `below 20`, `more than 5`.
fn threshold(goal: &str) -> Option<f64> {
    const COMPARING: &[&str] = &["below", "under", "above", "over", "than", "to", "exceeds"];
    let goal = goal.to_lowercase();
    let words: Vec<&str> = goal.split_whitespace().collect();
    let pair = words
        .windows(2)
        .find(|pair| COMPARING.contains(&pair[0]) && !numbers(pair[1]).is_empty())?;
    numbers(pair[1]).first().copied()
}

impl Change {
    fn mentions(&self, subject: &BTreeSet<&str>) -> bool {
        [&self.before, &self.after]
            .into_iter()
            .flatten()
            .any(|line| shares(line, subject))
    }
}

fn shares(line: &str, subject: &BTreeSet<&str>) -> bool {
    Words::of(line).any(|word| subject.contains(word.as_str()))
}

fn has_price(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
    line.contains(['$', '€', '£', '¥', '₹', '₩', '₺'])
        || words.any(|word| CURRENCIES.contains(&word.trim_matches(|c: char| c.is_ascii_digit())))
}

/// Returns the numbers of a line. A comma or point before exactly three digits separates thousands.
fn numbers(line: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    line.split(|c| !is_part(c))
        .map(|text| text.trim_matches(['.', ',']))
        .filter(|text| !text.is_empty())
        .filter_map(|text| {
            let decimal = text.rfind(['.', ',']).filter(|at| text.len() - at != 4);
            let (whole, fraction) = match decimal {
                Some(at) => (&text[..at], &text[at + 1..]),
                None => (text, ""),
            };
            format!("{}.{fraction}0", whole.replace(['.', ','], ""))
                .parse()
                .ok()
        })
        .collect()
}

/// Returns the changed lines; an old line and the new line that replaces it are one change.
fn changes(diff: &MarkdownDiff) -> Vec<Change> {
    let mut changes = Vec::new();
    for chunk in diff.json.files.iter().flat_map(|file| &file.chunks) {
        let mut context = String::new();
        let mut removed = VecDeque::new();
        for line in &chunk.changes {
            let text = line.content().get(1..).unwrap_or_default().trim();
            match line {
                _ if text.is_empty() => {}
                DiffLine::Normal { .. } => {
                    push_removed(&mut changes, &mut removed, &context);
                    context = text.to_owned();
                }
                DiffLine::Del { .. } => removed.push_back(text.to_owned()),
                DiffLine::Add { .. } => changes.push(Change {
                    before: removed.pop_front(),
                    after: Some(text.to_owned()),
                    context: context.clone(),
                }),
            }
            if changes.len() >= MAX_LINES {
                return changes;
            }
        }
        push_removed(&mut changes, &mut removed, &context);
    }
    changes
}

fn push_removed(changes: &mut Vec<Change>, removed: &mut VecDeque<String>, context: &str) {
    changes.extend(removed.drain(..).map(|before| Change {
        before: Some(before),
        after: None,
        context: context.to_owned(),
    }));
}

fn meaningful(changes: impl IntoIterator<Item = Change>, confidence: Confidence, reason: &str) -> Judgment {
    let meaningful_changes: Vec<MeaningfulChange> = changes
        .into_iter()
        .take(MAX_CHANGES)
        .map(|change| MeaningfulChange {
            kind: match (&change.before, &change.after) {
                (Some(_), Some(_)) => "changed",
                (None, _) => "added",
                (Some(_), None) => "removed",
            }
            .to_owned(),
            before: change.before.map(shorten),
            after: change.after.map(shorten),
            reason: reason.to_owned(),
        })
        .collect();
    Judgment {
        meaningful: !meaningful_changes.is_empty(),
        confidence,
        reason: reason.to_owned(),
        meaningful_changes,
        fields: Vec::new(),
    }
}

fn not_meaningful(confidence: Confidence, reason: &str) -> Judgment {
    Judgment {
        meaningful: false,
        confidence,
        reason: reason.to_owned(),
        ..Judgment::default()
    }
}

fn shorten(line: String) -> String {
    match line.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrape::changes::diff::diff;

    fn check(goal: &str, before: &str, after: &str, meaningful: bool) {
        let diff = diff(before, after).unwrap();
        let judgment = judge(goal, &diff);
        assert_eq!(
            judgment.meaningful, meaningful,
            "{goal}: {before:?} {after:?} {judgment:?}"
        );
        assert_eq!(
            judgment.meaningful_changes.is_empty(),
            !meaningful,
            "{judgment:?}"
        );
        assert!(!judgment.reason.is_empty());
    }

    #[test]
    fn numbers_must_move_in_the_direction_of_the_goal() {
        let page = |price: &str| format!("# Cup\n\nA cup of tea.\n\nPrice: {price}\n");
        check(
            "Notify me when the price falls",
            &page("$10.00"),
            &page("$9.50"),
            true,
        );
        check(
            "Notify me when the price falls",
            &page("$9.50"),
            &page("$10.00"),
            false,
        );
        check("the price drops below 9", &page("$10.00"), &page("$9.50"), false);
        check("the price drops below 9", &page("$10.00"), &page("8,99 €"), true);
        check("the price rises", &page("€1.200"), &page("€1.350,50"), true);
        let costs = |price: &str| format!("# Cup\n\nThe cup costs {price}.\n");
        for (before, after) in [
            ("12.50 EUR", "10.50 EUR"),
            ("CHF 9", "CHF 8.50"),
            ("₹900", "₹800"),
        ] {
            check("The price falls", &costs(before), &costs(after), true);
        }
        check("The price falls", &costs("12 pears"), &costs("10 pears"), false);
        check(
            "The price is cheaper",
            &page("$10.00"),
            "# Cup\n\nA cup of coffee.\n\nPrice: $10.00\n",
            false,
        );
    }

    #[test]
    fn changed_lines_must_mention_the_subject_of_the_goal() {
        let before = "# Jobs\n\n- Cook\n- Driver\n\n# News\n\nNothing happened today.\n";
        let posted =
            "# Jobs\n\n- Cook\n- Driver\n- Rust engineer in Berlin\n\n# News\n\nNothing happened today.\n";
        let news = "# Jobs\n\n- Cook\n- Driver\n\n# News\n\nIt rained a lot today.\n";
        check(
            "Tell me about new engineering or engineer jobs",
            before,
            posted,
            true,
        );
        check("Tell me about engineers", before, news, false);
        check("any change", before, news, true);
        check("Notify me when the page changes", before, news, true);
    }

    #[test]
    fn numbers_are_read_with_separators_of_thousands_and_decimals() {
        assert_eq!(
            numbers("1,299.00 and 1.299,50 or 12 of 3.5"),
            [1299.0, 1299.5, 12.0, 3.5]
        );
        assert_eq!(numbers("v2.0.1, none."), [20.1]);
        assert_eq!(numbers("…, . ,"), [] as [f64; 0]);
    }

    #[test]
    fn a_new_result_is_judged_by_its_text() {
        assert!(judge_new("new model releases", "A language model was released").meaningful);
        assert!(!judge_new("new model releases", "Weather in Paris").meaningful);
    }
}
