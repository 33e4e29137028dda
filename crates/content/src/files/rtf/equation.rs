//! Equations: groups whose first control word is an element of Office Math, with `m` before its name.

use crate::files::equation::Element;
use crate::files::markup::Markup;
use crate::limits;

/// What an element counts in bytes.
const ELEMENT_BYTES: usize = 16;
/// Styles and scripts of runs, in the order of their numbers.
const STYLES: [&str; 4] = ["p", "b", "i", "bi"];
const SCRIPTS: [&str; 6] = [
    "roman", "script", "fraktur", "double-struck", "sans-serif", "monospace",
];

/// An equation being read.
pub(super) struct Equation {
    /// The open elements, the equation itself first. One has no name before its control word.
    open: Vec<Element>,
    /// The text of all runs.
    text: String,
    bytes: usize,
}

impl Default for Equation {
    fn default() -> Self {
        Equation {
            open: vec![Element::default()],
            text: String::new(),
            bytes: 0,
        }
    }
}

impl Equation {
    /// Begins a group.
    pub(super) fn open(&mut self) {
        self.open.push(Element::default());
    }

    /// Ends a group.
    pub(super) fn close(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        let ended = self.open.pop();
        self.bytes += ELEMENT_BYTES;
        let is_too_large = self.is_too_large();
        let (Some(mut ended), Some(outer)) = (ended.filter(|_| !is_too_large), self.open.last_mut()) else {
            return;
        };
        let text = std::mem::take(&mut ended.text);
        match ended.name.as_str() {
            "" => {
                outer.text.push_str(&text);
                outer.children.append(&mut ended.children);
                return;
            }
            "r" => ended.children.push(Element {
                name: "t".to_owned(),
                text,
                ..Element::default()
            }),
            _ => ended.value = text.trim().to_owned(),
        }
        outer.children.push(ended);
    }

    /// Reads a control word. Returns whether it is one of equations.
    pub(super) fn word(&mut self, word: &str, number: Option<i32>) -> bool {
        let Some((word, element)) = word.strip_prefix('m').zip(self.open.last_mut()) else {
            return false;
        };
        let number = number
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(0);
        let value = match word {
            "mathPict" => return false,
            "sty" => STYLES.get(number),
            "scr" => SCRIPTS.get(number),
            "nor" => Some(&"1"),
            _ => None,
        };
        if let Some(value) = value {
            let property = Element {
                name: word.to_owned(),
                value: (*value).to_owned(),
                ..Element::default()
            };
            self.bytes += ELEMENT_BYTES;
            if self.bytes <= limits::EQUATION_BYTES {
                element.children.push(Element {
                    name: "rPr".to_owned(),
                    children: vec![property],
                    ..Element::default()
                });
            }
        } else if element.name.is_empty() {
            word.clone_into(&mut element.name);
        }
        true
    }

    /// Adds text to the innermost group.
    pub(super) fn text(&mut self, text: &str) {
        self.bytes += text.len();
        let mut named = self.open.iter().rev().filter(|element| !element.name.is_empty());
        if named.next().is_some_and(|element| element.name == "r") {
            self.text.push_str(text);
        }
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    fn is_too_large(&self) -> bool {
        self.bytes > limits::EQUATION_BYTES
    }

    /// Writes the equation: as MathML, or only its text if it is too large or `as_mathml` is false.
    pub(super) fn write(mut self, html: &mut Markup, as_mathml: bool, is_block: bool) {
        while self.open.len() > 1 {
            self.close();
        }
        if self.is_too_large() || !as_mathml {
            html.text(&self.text);
        } else if let Some(equation) = self.open.pop().filter(|equation| !equation.children.is_empty()) {
            html.raw(&equation.mathml(is_block));
        }
    }
}
