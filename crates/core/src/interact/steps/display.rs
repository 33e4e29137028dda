//! Describes steps in words, to report what was done.

use std::fmt::{Display, Formatter, Result};

use super::{ReadTarget, Scroll, Step};
use crate::interact::element::ElementRef;

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Step::Open(url) => write!(f, "open {url}"),
            Step::Back => f.write_str("go back"),
            Step::Forward => f.write_str("go forward"),
            Step::Reload => f.write_str("reload"),
            Step::Click(element, 2) => write!(f, "double-click {element}"),
            Step::Click(element, _) => write!(f, "click {element}"),
            Step::Hover(element) => write!(f, "hover over {element}"),
            Step::Type(text, Some(field)) => write!(f, "type {text:?} into {field}"),
            Step::Type(text, None) => write!(f, "type {text:?}"),
            Step::Search(text) => write!(f, "search for {text:?}"),
            Step::Press(key, 1) => write!(f, "press {key}"),
            Step::Press(key, times) => write!(f, "press {key} {times} times"),
            Step::Select(option, Some(list)) => write!(f, "select {option:?} in {list}"),
            Step::Select(option, None) => write!(f, "select {option:?}"),
            Step::Check(element) => write!(f, "check {element}"),
            Step::Uncheck(element) => write!(f, "uncheck {element}"),
            Step::Submit => f.write_str("submit the form"),
            Step::Scroll(Scroll::Pixels(x, y)) => write!(f, "scroll by {x}, {y} pixels"),
            Step::Scroll(Scroll::Windows(windows)) => write!(f, "scroll by {windows} windows"),
            Step::Scroll(Scroll::Top) => f.write_str("scroll to the top"),
            Step::Scroll(Scroll::Bottom) => f.write_str("scroll to the bottom"),
            Step::Scroll(Scroll::To(element)) => write!(f, "scroll to {element}"),
            Step::Wait(ms) => write!(f, "wait {ms} ms"),
            Step::WaitFor(text) => write!(f, "wait for {text:?}"),
            Step::WaitForPage => f.write_str("wait for the page"),
            Step::Read(ReadTarget::Page) => f.write_str("read the page"),
            Step::Read(ReadTarget::Title) => f.write_str("read the title"),
            Step::Read(ReadTarget::Url) => f.write_str("read the URL"),
            Step::Read(ReadTarget::Words(words)) => write!(f, "read {words:?}"),
            Step::Screenshot => f.write_str("take a screenshot"),
        }
    }
}

impl Display for ElementRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.nth {
            Some(-1) => f.write_str("the last ")?,
            Some(nth) => write!(f, "number {} of ", nth + 1)?,
            None => {}
        }
        let kind = self.hint.map(|hint| format!("{hint:?}").to_lowercase());
        match (self.name.is_empty(), kind) {
            (true, kind) => f.write_str(&kind.unwrap_or_default()),
            (false, _) => write!(f, "{:?}", self.name),
        }
    }
}
