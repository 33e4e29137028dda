//! Parses plain step instructions by rules: `go to example.com, click Sign in, type x into Email, press Enter, read
//! the price`. A clause that is not understood is reported, and then no step is performed.

mod amount;
mod display;
mod noun;
mod page;
mod split;

use super::element::{ElementRef, Hint};
use super::words::{ARTICLES, Word, clauses, is_all, only, text, without_first, without_last};
use amount::{key, repeats};
use noun::{is_url, parse_element};
use page::{read, scroll, wait};
use split::{
    CHECK, CLEAR, CLICK, INTO, OPEN, PAIRS, PRESS, READ, SELECT, TYPE, UNCHECK, WAIT, split_steps,
    without_fillers,
};

use crate::limits::MAX_STEPS;

/// One step of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Go to a URL, as written.
    Open(String),
    /// Go back in the history.
    Back,
    /// Go forward in the history.
    Forward,
    /// Reload the page.
    Reload,
    /// Click an element this many times in a row.
    Click(ElementRef, u32),
    /// Move the pointer over an element.
    Hover(ElementRef),
    /// Replace the text of a field; without one, type into the focused element.
    Type(String, Option<ElementRef>),
    /// Type this into the search box and press Enter.
    Search(String),
    /// Press a key, given by its DOM name, this many times.
    Press(String, u32),
    /// Select an option by its text, in any list that has it if none is named.
    Select(String, Option<ElementRef>),
    /// Check an element.
    Check(ElementRef),
    /// Uncheck an element.
    Uncheck(ElementRef),
    /// Submit the form.
    Submit,
    /// Scroll.
    Scroll(Scroll),
    /// Wait this many ms.
    Wait(u64),
    /// Wait until the page shows a text.
    WaitFor(String),
    /// Wait until the page has settled.
    WaitForPage,
    /// Report what the page says.
    Read(ReadTarget),
    /// Take a screenshot.
    Screenshot,
}

/// Where to scroll.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scroll {
    /// This many pixels to the right and down.
    Pixels(i64, i64),
    /// This many viewport heights down.
    Windows(i64),
    /// To the top.
    Top,
    /// To the bottom.
    Bottom,
    /// Until an element is visible.
    To(ElementRef),
}

/// What to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadTarget {
    /// Everything that the page shows.
    Page,
    /// The title of the page.
    Title,
    /// The URL of the page.
    Url,
    /// The text that matches these words.
    Words(String),
}

/// Parses the steps of a prompt.
///
/// # Errors
/// Returns the clauses that were not understood, as written, or the whole prompt if it has no clauses.
pub fn parse_steps(prompt: &str) -> Result<Vec<Step>, Vec<String>> {
    let mut steps = Vec::new();
    let mut unknown = Vec::new();
    for clause in clauses(prompt) {
        for single in split_steps(clause) {
            match step(&single) {
                Some(step) => steps.push(step),
                None => unknown.push(text(&single)),
            }
        }
    }
    if steps.len() > MAX_STEPS {
        unknown.push(format!("more than {MAX_STEPS} steps"));
    }
    if steps.is_empty() && unknown.is_empty() {
        unknown.push(prompt.trim().to_owned());
    }
    match unknown.is_empty() {
        true => Ok(steps),
        false => Err(unknown),
    }
}

fn step(words: &[Word]) -> Option<Step> {
    let words = without_fillers(words);
    let words = without_last(words, &["please", "now", "again", "too", "afterwards"]);
    let (verb, rest) = words.split_first()?;
    let lower = verb.lower.as_str();
    match lower {
        _ if verb.is(OPEN) => open(verb, rest),
        "back" if rest.is_empty() => Some(Step::Back),
        "page" if is_all(rest, &["down"]) => Some(Step::Scroll(Scroll::Windows(1))),
        "page" if is_all(rest, &["up"]) => Some(Step::Scroll(Scroll::Windows(-1))),
        "forward" if rest.is_empty() => Some(Step::Forward),
        "reload" | "refresh" => only(rest, &["page", "site", "tab", "it"]).then_some(Step::Reload),
        "submit" | "send" if only(rest, &["form", "it", "search", "query", "data"]) => Some(Step::Submit),
        "submit" | "send" | "accept" => parse_element(words).map(|element| Step::Click(element, 1)),
        _ if verb.is(PAIRS) && rest.len() <= 1 => Some(Step::Click(
            ElementRef {
                name: text(words),
                ..ElementRef::default()
            },
            1,
        )),
        _ if verb.is(CLICK) => click(verb, rest),
        _ if verb.is(PRESS) => press(rest),
        "set" if rest.iter().any(|word| word.is(&["to"])) => set(rest),
        "fill" => fill(rest),
        _ if verb.is(TYPE) => types(rest),
        _ if verb.is(CLEAR) => field(rest).map(|field| Step::Type(String::new(), Some(field))),
        _ if verb.is(SELECT) => select(rest),
        "turn" | "switch" => match rest.split_first()? {
            (first, rest) if first.is(&["on"]) => checkbox(rest).map(Step::Check),
            (first, rest) if first.is(&["off"]) => checkbox(rest).map(Step::Uncheck),
            _ => None,
        },
        _ if verb.is(CHECK) => {
            let asks = rest
                .first()
                .is_some_and(|word| word.is(&["that", "if", "whether", "for", "out"]));
            let off = rest.first().is_some_and(|word| word.is(&["off"]));
            (!asks)
                .then(|| checkbox(&rest[usize::from(off)..]).map(Step::Check))
                .flatten()
        }
        _ if verb.is(UNCHECK) => checkbox(rest).map(Step::Uncheck),
        "move" | "mouse" | "hover" => hover(rest),
        "scroll" => scroll(rest),
        _ if verb.is(WAIT) => wait(rest),
        "search" => search(rest),
        "screenshot" => Some(Step::Screenshot),
        "take" | "capture" => {
            let picture = rest
                .iter()
                .any(|word| word.is(&["screenshot", "picture", "snapshot", "photo", "image"]));
            (picture || lower == "capture").then_some(Step::Screenshot)
        }
        "return" if rest.first().is_some_and(|word| word.is(&["to"])) => back_to(rest),
        _ if verb.is(READ) => read(lower, rest),
        _ => None,
    }
}

fn open(verb: &Word, rest: &[Word]) -> Option<Step> {
    let rest = without_first(rest, &["up", "over", "on", "directly", "straight"]);
    if rest.first().is_some_and(|word| word.is(&["back"])) {
        return back_to(&rest[1..]);
    }
    if rest.first().is_some_and(|word| word.is(&["forward", "forwards"])) && verb.is(&["go", "navigate"]) {
        return Some(Step::Forward);
    }
    let rest = without_first(rest, &["to", "at"]);
    let rest = without_first(rest, &["the", "this", "a"]);
    let place = without_first(
        rest,
        &[
            "url", "address", "website", "site", "page", "webpage", "following",
        ],
    );
    let place = without_first(place, &["url", "address", "at", "page"]);
    if let [single] = without_last(place, &["page", "website", "site", "homepage"])
        && is_url(&single.text)
    {
        return Some(Step::Open(single.text.clone()));
    }
    let [first, more @ ..] = rest else { return None };
    if first.is(&["previous", "last", "prior"]) && only(more, &["page", "site"]) {
        return Some(Step::Back);
    }
    let of_page = more.is_empty() || (more[0].is(&["of"]) && only(&more[1..], &["page", "site"]));
    match first.lower.as_str() {
        "top" | "start" | "beginning" if of_page => return Some(Step::Scroll(Scroll::Top)),
        "bottom" | "end" if of_page => return Some(Step::Scroll(Scroll::Bottom)),
        _ => {}
    }
    let mut element = parse_element(rest)?;
    let page = element.hint.is_none() && !verb.is(&["open", "load"]);
    if page {
        element.hint = Some(Hint::Link);
    }
    Some(Step::Click(element, 1))
}

/// Matches `to the previous page`, `one page`, or nothing.
fn back_to(rest: &[Word]) -> Option<Step> {
    let known = [
        "to", "the", "previous", "last", "prior", "page", "one", "a", "site", "before",
    ];
    rest.iter().all(|word| word.is(&known)).then_some(Step::Back)
}

fn click(verb: &Word, rest: &[Word]) -> Option<Step> {
    let mut times = 1;
    let mut rest = rest;
    if verb.is(&["double"]) {
        rest = rest
            .first()
            .filter(|word| word.is(&["click"]))
            .map(|_| &rest[1..])?;
        times = 2;
    } else if verb.is(&["doubleclick", "double-click"]) {
        times = 2;
    }
    if rest.last().is_some_and(|word| word.is(&["twice"])) {
        (times, rest) = (2, &rest[..rest.len() - 1]);
    }
    let rest = without_first(rest, &["on", "at", "onto"]);
    parse_element(rest).map(|element| Step::Click(element, times))
}

fn press(rest: &[Word]) -> Option<Step> {
    let (keys, times) = repeats(rest);
    let keys = without_first(without_first(keys, &["on"]), &["the"]);
    let keys = without_last(keys, &["key", "keys", "button"]);
    let is_button = rest.iter().any(|word| word.is(&["button", "link"]));
    let key = key(&text(keys).to_lowercase());
    match key {
        Some(key) if !(is_button && key.len() == 1) => Some(Step::Press(key, times)),
        _ => parse_element(without_first(rest, &["on"])).map(|element| Step::Click(element, 1)),
    }
}

/// Parses `type X into Y`, `enter X as the Y`, `type X`.
fn types(rest: &[Word]) -> Option<Step> {
    let rest = without_first(rest, &["in", "the"]);
    let rest = match rest {
        [first, second, ..] if first.is(&["text", "value", "word", "words"]) && second.is_quoted() => {
            &rest[1..]
        }
        _ => rest,
    };
    let place = match rest.first() {
        Some(first) if first.is_quoted() => (rest.len() > 1).then_some(1),
        // The strongest preposition decides, at its last position.
        _ => ["into", "inside", "in", "within", "as", "for", "under", "to"]
            .iter()
            .find_map(|known| rest.iter().rposition(|word| word.is(&[known])))
            .filter(|at| *at > 0),
    };
    match place {
        Some(at) => {
            let field = field(without_first(&rest[at..], INTO))?;
            Some(Step::Type(text(&rest[..at]), Some(field)))
        }
        None if rest.is_empty() => None,
        None => Some(Step::Type(text(rest), None)),
    }
}

/// Parses `fill Y with X`, `fill in X as Y`, `fill X into Y`.
fn fill(rest: &[Word]) -> Option<Step> {
    let with = rest.iter().position(|word| word.is(&["with"]));
    let Some(at) = with else {
        return types(without_first(rest, &["in", "out", "up"]));
    };
    let field = field(without_first(&rest[..at], &["in", "out"]))?;
    let words = &rest[at + 1..];
    (!words.is_empty()).then(|| Step::Type(text(words), Some(field)))
}

/// Parses `set Y to X`.
fn set(rest: &[Word]) -> Option<Step> {
    let at = rest.iter().position(|word| word.is(&["to"]))?;
    let (field, words) = (field(&rest[..at])?, &rest[at + 1..]);
    (!words.is_empty()).then(|| Step::Type(text(words), Some(field)))
}

fn select(rest: &[Word]) -> Option<Step> {
    let rest = match without_first(rest, ARTICLES) {
        [option, name @ ..] if option.is(&["option"]) && !name.is_empty() => name,
        _ => rest,
    };
    let at = rest
        .iter()
        .rposition(|word| word.is(&["from", "in", "for", "as", "under"]))
        .filter(|at| *at > 0);
    let option = parse_element(&rest[..at.unwrap_or(rest.len())])?;
    let list = match at {
        Some(at) => Some(parse_element(&rest[at + 1..])?),
        None => None,
    };
    match (option.hint, &list) {
        (None | Some(Hint::Option | Hint::Item), _) if !option.name.is_empty() => {
            Some(Step::Select(option.name, list))
        }
        // `select the first link`
        _ => Some(Step::Click(option, 1)),
    }
}

fn checkbox(rest: &[Word]) -> Option<ElementRef> {
    let mut element = parse_element(rest)?;
    element.hint.get_or_insert(Hint::Checkbox);
    if element.hint == Some(Hint::Field) {
        // `check the Remember me box`
        element.hint = Some(Hint::Checkbox);
    }
    Some(element)
}

fn field(rest: &[Word]) -> Option<ElementRef> {
    let mut element = parse_element(rest)?;
    element.hint.get_or_insert(Hint::Field);
    Some(element)
}

fn hover(rest: &[Word]) -> Option<Step> {
    let mut rest = without_first(rest, &["the"]);
    while let Some(word) = rest.first()
        && word.is(&["mouse", "pointer", "cursor", "over", "on", "onto", "to", "above"])
    {
        rest = &rest[1..];
    }
    parse_element(rest).map(Step::Hover)
}

fn search(rest: &[Word]) -> Option<Step> {
    let rest = without_first(
        without_first(rest, &["the", "this"]),
        &["page", "site", "website"],
    );
    let rest = without_first(rest, &["for"]);
    let at = rest
        .iter()
        .rposition(|word| word.is(&["in", "on", "using"]))
        .filter(|at| *at > 0);
    let about = rest[at.map_or(0..0, |at| at..rest.len())]
        .iter()
        .any(|word| word.is(&["search", "box", "field", "bar", "site", "page"]));
    let words = if about {
        &rest[..at.unwrap_or(rest.len())]
    } else {
        rest
    };
    (!words.is_empty()).then(|| Step::Search(text(words)))
}

#[cfg(test)]
mod tests;
