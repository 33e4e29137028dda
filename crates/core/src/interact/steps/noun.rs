//! Parses nouns: elements with their kind, and URLs.

use crate::interact::element::{ElementRef, Hint};
use crate::interact::words::{ARTICLES, Word, is_all, text, without_first, without_last};
use crate::limits::MAX_NAME_WORDS;

/// Parses an element: `the "Add" button`, `Sign in`, `the second link`, `the button labeled Send`.
pub(super) fn parse_element(words: &[Word]) -> Option<ElementRef> {
    let mut element = ElementRef::default();
    let mut rest = words;
    let places: [&[&str]; 8] = [
        &["on", "the", "page"],
        &["on", "this", "page"],
        &["at", "the", "top"],
        &["at", "the", "bottom"],
        &["in", "the", "menu"],
        &["in", "the", "navigation"],
        &["in", "the", "header"],
        &["in", "the", "footer"],
    ];
    for place in places {
        if rest.len() > place.len() && is_all(&rest[rest.len() - place.len()..], place) {
            rest = &rest[..rest.len() - place.len()];
        }
    }
    rest = without_first(rest, &["on"]);
    rest = without_first(rest, ARTICLES);
    if let [first, _, ..] = rest
        && let Some(nth) = ordinal(&first.lower)
    {
        element.nth = Some(nth);
        rest = &rest[1..];
    }
    // `the button labeled X`, `the link that says X`, `the link to X`
    if let Some((hint, behind)) = kind_before(rest) {
        let label = rest[behind..].iter().position(|word| {
            word.is(&[
                "labeled", "labelled", "called", "named", "saying", "says", "reading", "titled", "to",
                "text", "label", "name", "marked",
            ])
        });
        if let Some(at) = label
            && rest[behind..behind + at]
                .iter()
                .all(|word| word.is(&["that", "which", "with", "the", "is", "for", "labeled", "labelled"]))
        {
            let name = without_first(
                without_first(&rest[behind + at + 1..], &["the"]),
                &["text", "label", "name", "is"],
            );
            element.hint = Some(hint);
            element.name = text(name);
            return (!element.name.is_empty()).then_some(element);
        }
        if rest.len() > behind && (rest[behind].is_quoted() || rest[behind].is(&["for"])) {
            // `button "Send"`, `the box for the name`
            let name = without_first(without_first(&rest[behind..], &["for"]), ARTICLES);
            element.hint = Some(hint);
            element.name = text(name);
            return (!element.name.is_empty()).then_some(element);
        }
    }
    if let Some((hint, before)) = kind_after(rest) {
        let name = without_last(&rest[..before], &["labeled", "labelled", "called", "named"]);
        element.hint = Some(hint);
        element.name = text(name);
        // The purpose of a `search box` is its name.
        return (!element.name.is_empty() || element.nth.is_some() || !words.is_empty()).then_some(element);
    }
    element.name = text(rest);
    let plausible = rest.len() <= MAX_NAME_WORDS || rest.iter().any(Word::is_quoted);
    (plausible && !element.name.is_empty()).then_some(element)
}

fn ordinal(word: &str) -> Option<i32> {
    let known = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    ];
    if word == "last" {
        return Some(-1);
    }
    if let Some(at) = known.iter().position(|known| *known == word) {
        return i32::try_from(at).ok();
    }
    let digits = word
        .strip_suffix("st")
        .or(word.strip_suffix("nd"))
        .or(word.strip_suffix("rd"))
        .or(word.strip_suffix("th"))?;
    digits
        .parse::<i32>()
        .ok()
        .filter(|number| (1..=1000).contains(number))
        .map(|number| number - 1)
}

/// Words for kinds of elements, pairs of words first.
const KINDS: &[(&[&str], Hint)] = &[
    (&["radio", "button"], Hint::Checkbox),
    (&["check", "box"], Hint::Checkbox),
    (&["text", "box"], Hint::Field),
    (&["text", "field"], Hint::Field),
    (&["text", "area"], Hint::Field),
    (&["input", "field"], Hint::Field),
    (&["input", "box"], Hint::Field),
    (&["form", "field"], Hint::Field),
    (&["menu", "item"], Hint::Item),
    (&["drop", "down"], Hint::List),
    (&["dropdown", "menu"], Hint::List),
    (&["dropdown", "list"], Hint::List),
    (&["select", "box"], Hint::List),
    (&["button"], Hint::Button),
    (&["link"], Hint::Link),
    (&["hyperlink"], Hint::Link),
    (&["page"], Hint::Link),
    (&["field"], Hint::Field),
    (&["box"], Hint::Field),
    (&["bar"], Hint::Field),
    (&["input"], Hint::Field),
    (&["textbox"], Hint::Field),
    (&["textarea"], Hint::Field),
    (&["checkbox"], Hint::Checkbox),
    (&["radio"], Hint::Checkbox),
    (&["toggle"], Hint::Checkbox),
    (&["switch"], Hint::Checkbox),
    (&["dropdown"], Hint::List),
    (&["combobox"], Hint::List),
    (&["list"], Hint::List),
    (&["selector"], Hint::List),
    (&["menu"], Hint::List),
    (&["option"], Hint::Option),
    (&["tab"], Hint::Tab),
    (&["item"], Hint::Item),
    (&["image"], Hint::Image),
    (&["picture"], Hint::Image),
    (&["icon"], Hint::Image),
    (&["logo"], Hint::Image),
    (&["heading"], Hint::Heading),
    (&["headline"], Hint::Heading),
];

/// Returns the kind at the start of the words, and where it ends.
fn kind_before(words: &[Word]) -> Option<(Hint, usize)> {
    let fits = |kind: &[&str]| words.len() > kind.len() && is_all(&words[..kind.len()], kind);
    let found = KINDS.iter().find(|(kind, _)| fits(kind));
    found.map(|(kind, hint)| (*hint, kind.len()))
}

/// Returns the kind at the end of the words, and where it starts. A name that consists of it stays a name:
/// `Tab`, `Menu`.
fn kind_after(words: &[Word]) -> Option<(Hint, usize)> {
    let fits = |kind: &[&str]| words.len() >= kind.len() && is_all(&words[words.len() - kind.len()..], kind);
    let (kind, hint) = KINDS.iter().find(|(kind, _)| fits(kind))?;
    let before = words.len() - kind.len();
    let is_name = before == 0 && matches!(hint, Hint::List | Hint::Image | Hint::Tab);
    (!is_name).then_some((*hint, before))
}

/// Returns whether a text can only be a URL.
pub(super) fn is_url(text: &str) -> bool {
    let lower = text.to_lowercase();
    if lower.contains("://")
        || lower.starts_with("www.")
        || lower.starts_with("about:")
        || text.starts_with('/')
    {
        return true;
    }
    let host = lower.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    let letters = name
        .rsplit('.')
        .next()
        .is_some_and(|last| last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let number = name.contains('.') && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name == "localhost" || number || (name.contains('.') && !name.starts_with('.') && letters)
}
