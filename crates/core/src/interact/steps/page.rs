//! Parses steps on the page as a whole: scrolling, waiting, reading.

use super::amount::{duration, number};
use super::noun::parse_element;
use super::{ReadTarget, Scroll, Step};
use crate::interact::words::{ARTICLES, Word, is_all, only, text, without_first, without_last};
use crate::limits::{MAX_SCROLL_PIXELS, MAX_STEP_REPEATS, MAX_WAIT_MS};

pub(super) fn scroll(rest: &[Word]) -> Option<Step> {
    let seen = rest.len() > 2 && is_all(&rest[rest.len() - 2..], &["into", "view"]);
    if seen {
        return parse_element(&rest[..rest.len() - 2]).map(|element| Step::Scroll(Scroll::To(element)));
    }
    let rest = without_first(without_first(rest, &["the"]), &["page", "window", "screen"]);
    let (mut x, mut y) = (0, 1);
    let mut rest = rest;
    if let Some(way) = rest.first() {
        let known = match way.lower.as_str() {
            "down" | "downwards" => Some((0, 1)),
            "up" | "upwards" => Some((0, -1)),
            "left" => Some((-1, 0)),
            "right" => Some((1, 0)),
            _ => None,
        };
        if let Some(way) = known {
            ((x, y), rest) = (way, &rest[1..]);
        }
    }
    let rest = without_first(rest, &["by", "for"]);
    if let [to, place @ ..] = rest
        && (to.is(&["to", "until", "till"]) || to.is(&["all"]))
    {
        let upwards = y < 0 || place.iter().any(|word| word.is(&["up"]));
        let mut place = place;
        while let Some(word) = place.first()
            && word.is(&["the", "way", "very", "you", "see", "down", "up", "to"])
        {
            place = &place[1..];
        }
        return match place.first() {
            None => Some(Step::Scroll(if upwards { Scroll::Top } else { Scroll::Bottom })),
            Some(word) if word.is(&["bottom", "end", "footer"]) => Some(Step::Scroll(Scroll::Bottom)),
            Some(word) if word.is(&["top", "start", "beginning"]) => Some(Step::Scroll(Scroll::Top)),
            Some(_) => parse_element(place).map(|element| Step::Scroll(Scroll::To(element))),
        };
    }
    const BIT: &[&str] = &[
        "a", "bit", "little", "some", "once", "more", "further", "page", "one", "screen", "the", "window",
        "time",
    ];
    if rest.iter().all(|word| word.is(BIT)) {
        return Some(Step::Scroll(if x == 0 {
            Scroll::Windows(y)
        } else {
            Scroll::Pixels(x * SIDEWAYS, 0)
        }));
    }
    let (count, unit) = rest.split_first()?;
    let glued = count
        .lower
        .strip_suffix("px")
        .and_then(|digits| digits.parse().ok());
    let amount: i64 = glued.or_else(|| number(count).map(|number| number as i64))?;
    let amount = amount.clamp(1, MAX_SCROLL_PIXELS);
    let windows = unit.iter().any(|word| {
        word.is(&[
            "times", "time", "pages", "page", "screens", "screen", "windows", "viewports",
        ])
    });
    let pixels = glued.is_some() || unit.is_empty() || only(unit, &["pixels", "pixel", "px"]);
    if windows && x == 0 {
        return Some(Step::Scroll(Scroll::Windows(
            y * amount.min(i64::from(MAX_STEP_REPEATS)),
        )));
    }
    pixels.then_some(Step::Scroll(Scroll::Pixels(x * amount, y * amount)))
}

/// Distance of a horizontal scroll without an amount, in pixels.
const SIDEWAYS: i64 = 300;

pub(super) fn wait(rest: &[Word]) -> Option<Step> {
    let for_time = without_first(rest, &["for", "about", "around"]);
    let for_time = without_first(for_time, &["about", "around", "another"]);
    if for_time.is_empty() {
        return Some(Step::Wait(1_000));
    }
    if let Some(time) = duration(for_time) {
        return Some(Step::Wait(time.min(MAX_WAIT_MS)));
    }
    let [first, what @ ..] = rest else { return None };
    if !first.is(&["for", "until", "till"]) {
        return None;
    }
    let what = without_first(what, &["the", "it", "you", "see"]);
    let what = without_first(what, &["see", "the"]);
    const COMES: &[&str] = &[
        "to", "be", "appear", "appears", "load", "loads", "loaded", "show", "shows", "up", "is", "visible",
        "shown", "has", "finish", "finishes", "finished", "loading", "there", "on", "displayed", "come",
        "comes", "appeared", "fully",
    ];
    let kept = what
        .iter()
        .rposition(|word| !word.is(COMES))
        .map_or(0, |at| at + 1);
    let subject = &what[..kept];
    if subject.is_empty()
        || only(
            subject,
            &["page", "site", "results", "content", "navigation", "everything"],
        ) && !subject[0].is(&["results", "content"])
    {
        return Some(Step::WaitForPage);
    }
    let subject = without_last(subject, &["text", "message", "button", "link", "page"]);
    let subject = without_first(subject, &["text", "message", "words"]);
    (!subject.is_empty()).then(|| Step::WaitFor(text(subject)))
}

pub(super) fn read(verb: &str, rest: &[Word]) -> Option<Step> {
    let mut rest = rest;
    if verb == "how" {
        // `how much is the lamp`, `how much does it cost`
        let [much, more @ ..] = rest else { return None };
        if !much.is(&["much"]) {
            return None;
        }
        let subject = without_first(more, &["is", "are", "does", "do"]);
        let subject = without_last(subject, &["cost", "costs"]);
        let subject: Vec<Word> = subject
            .iter()
            .filter(|word| !word.is(ARTICLES) && !word.is(&["it"]))
            .cloned()
            .collect();
        let words = match subject.is_empty() {
            true => "price".to_owned(),
            false => format!("{} price", text(&subject)),
        };
        return Some(Step::Read(ReadTarget::Words(words)));
    }
    if matches!(verb, "what" | "what's" | "whats") {
        rest = without_first(rest, &["is", "are", "does", "do", "was"]);
    }
    rest = without_first(rest, &["me", "out", "back", "us", "down"]);
    rest = without_first(rest, &["what", "about", "back"]);
    rest = without_first(rest, &["is", "are"]);
    rest = without_last(
        rest,
        &[
            "is", "are", "say", "says", "shows", "show", "aloud", "read", "to", "me",
        ],
    );
    rest = without_last(rest, &["is", "are", "does", "say", "says"]);
    let quoted = rest.iter().any(Word::is_quoted);
    if !quoted {
        while let Some(word) = rest.first()
            && (word.is(ARTICLES) || word.is(&["full", "current", "whole", "entire", "all", "of"]))
        {
            rest = &rest[1..];
        }
        rest = match rest {
            [first, second, more @ ..]
                if first.is(&["text", "content", "contents", "value", "name"])
                    && second.is(&["of", "in", "inside", "from"]) =>
            {
                without_first(more, ARTICLES)
            }
            _ => rest,
        };
    }
    // A location such as `on this page` adds nothing.
    let here: [&[&str]; 6] = [
        &["on", "the", "page"],
        &["on", "this", "page"],
        &["of", "the", "page"],
        &["of", "this", "page"],
        &["from", "the", "page"],
        &["that", "is", "shown"],
    ];
    for end in here {
        if rest.len() > end.len() && is_all(&rest[rest.len() - end.len()..], end) {
            let of_page = end[0] == "of";
            rest = &rest[..rest.len() - end.len()];
            if of_page && is_all(rest, &["title"]) {
                return Some(Step::Read(ReadTarget::Title));
            }
        }
    }
    let words = text(rest);
    Some(Step::Read(match words.to_lowercase().as_str() {
        "" if matches!(verb, "read" | "extract" | "print" | "output") => ReadTarget::Page,
        "" => return None,
        "page" | "text" | "content" | "contents" | "everything" | "page text" | "page content" | "it"
        | "page's text" | "text content" => ReadTarget::Page,
        "page title" | "title" | "page's title" | "document title" => ReadTarget::Title,
        "url" | "address" | "page url" | "page address" | "page's url" => ReadTarget::Url,
        _ => ReadTarget::Words(words),
    }))
}
