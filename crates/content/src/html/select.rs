//! A small CSS selector matcher for `includeTags`, `excludeTags` and `attributes`: names, `.class`, `#id`,
//! attributes, descendants and children, comma lists. No pseudo-classes, no siblings. Selectors are bounded;
//! matching does not recurse.

use std::fmt;

use super::dom::{Dom, NodeId, attr};
use super::tag::Tag;
use crate::limits;

/// A parsed selector list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    alternatives: Vec<Vec<Part>>,
}

/// A selector that cannot be parsed; the message is for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError(String);

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}

/// One compound selector, and whether it must be a child of the part before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    child: bool,
    tests: Vec<Test>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Any,
    Name(String),
    Class(String),
    Id(String),
    Attribute {
        name: String,
        relation: Relation,
        value: String,
        ignore_case: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Present,
    Equals,
    Begins,
    Ends,
    Contains,
    Word,
    Dash,
}

impl Selector {
    /// Parses a selector list.
    ///
    /// # Errors
    ///
    /// The message names the part that is not supported or not valid.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let fail = |reason: String| Err(SelectorError(format!("Selector `{}`: {reason}", shorten(text))));
        if text.chars().count() > limits::SELECTOR_CHARS {
            return fail(format!("longer than {} characters", limits::SELECTOR_CHARS));
        }
        let mut reader = Reader { rest: text.trim() };
        let mut alternatives = Vec::new();
        loop {
            match reader.complex() {
                Ok(parts) => alternatives.push(parts),
                Err(reason) => return fail(reason),
            }
            if alternatives.len() > limits::SELECTOR_ALTERNATIVES {
                return fail(format!(
                    "more than {} alternatives",
                    limits::SELECTOR_ALTERNATIVES
                ));
            }
            if reader.rest.is_empty() {
                return Ok(Selector { alternatives });
            }
            reader.skip(1); // the comma that ended the alternative
        }
    }

    /// Returns true when the element matches. Text never does.
    pub(crate) fn matches(&self, dom: &Dom, id: NodeId) -> bool {
        !matches!(dom.tag(id), Tag::Text | Tag::Document)
            && self
                .alternatives
                .iter()
                .any(|parts| matches_parts(dom, id, parts))
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Matches from right to left in one pass over the ancestors.
fn matches_parts(dom: &Dom, id: NodeId, parts: &[Part]) -> bool {
    let last = parts.len() - 1;
    if !parts[last].tests.iter().all(|test| test.matches(dom, id)) {
        return false;
    }
    // Parts still to match: `anywhere` at any further ancestor, `here` at the next one only.
    let mut anywhere = [false; limits::SELECTOR_PARTS];
    let mut here = [false; limits::SELECTOR_PARTS];
    let want = |part: usize, anywhere: &mut [bool], here: &mut [bool]| match parts[part].child {
        _ if part == 0 => true,
        true => {
            here[part - 1] = true;
            false
        }
        false => {
            anywhere[part - 1] = true;
            false
        }
    };
    if want(last, &mut anywhere, &mut here) {
        return true;
    }
    for ancestor in dom.ancestors(id) {
        let now = here;
        here = [false; limits::SELECTOR_PARTS];
        for part in 0..last {
            if (now[part] || anywhere[part])
                && parts[part].tests.iter().all(|test| test.matches(dom, ancestor))
            {
                let mut later = [false; limits::SELECTOR_PARTS];
                if want(part, &mut later, &mut here) {
                    return true;
                }
                for (wanted, later) in anywhere.iter_mut().zip(later) {
                    *wanted |= later;
                }
            }
        }
    }
    false
}

impl Test {
    fn matches(&self, dom: &Dom, id: NodeId) -> bool {
        match self {
            Test::Any => true,
            Test::Name(name) => dom.name(id).eq_ignore_ascii_case(name),
            Test::Class(class) => dom.classes(id).any(|c| c == class),
            Test::Id(wanted) => dom.attr(id, attr::ID) == Some(wanted),
            Test::Attribute {
                name,
                relation,
                value,
                ignore_case,
            } => {
                let Some(have) = dom.attr_named(id, name) else {
                    return false;
                };
                match ignore_case {
                    true => relation.holds(&have.to_lowercase(), &value.to_lowercase()),
                    false => relation.holds(have, value),
                }
            }
        }
    }
}

impl Relation {
    fn holds(self, have: &str, value: &str) -> bool {
        match self {
            Relation::Present => true,
            Relation::Equals => have == value,
            Relation::Begins => !value.is_empty() && have.starts_with(value),
            Relation::Ends => !value.is_empty() && have.ends_with(value),
            Relation::Contains => !value.is_empty() && have.contains(value),
            Relation::Word => have.split_ascii_whitespace().any(|word| word == value),
            Relation::Dash => {
                have == value || have.strip_prefix(value).is_some_and(|rest| rest.starts_with('-'))
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn skip_space(&mut self) -> bool {
        let trimmed = self.rest.trim_start();
        let skipped = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        skipped
    }

    /// Reads compound parts up to a comma or the end.
    fn complex(&mut self) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        let mut child = false;
        self.skip_space();
        loop {
            if parts.len() == limits::SELECTOR_PARTS {
                return Err(format!("more than {} parts", limits::SELECTOR_PARTS));
            }
            parts.push(Part {
                child,
                tests: self.compound()?,
            });
            let space = self.skip_space();
            child = false;
            match self.peek() {
                None | Some(',') => return Ok(parts),
                Some('>') => {
                    child = true;
                    self.skip(1);
                    self.skip_space();
                }
                Some(c @ ('+' | '~')) => {
                    return Err(format!("`{c}` is not supported; use descendants or `>`"));
                }
                Some(_) if space => {}
                Some(c) => return Err(format!("unexpected `{c}`")),
            }
        }
    }

    fn compound(&mut self) -> Result<Vec<Test>, String> {
        let mut tests = Vec::new();
        loop {
            let test = match self.peek() {
                Some('*') => {
                    self.skip(1);
                    Test::Any
                }
                Some('.') => {
                    self.skip(1);
                    Test::Class(self.name()?)
                }
                Some('#') => {
                    self.skip(1);
                    Test::Id(self.name()?)
                }
                Some('[') => {
                    self.skip(1);
                    self.attribute()?
                }
                Some(':') => return Err("pseudo-classes such as `:first-child` are not supported".to_owned()),
                Some(c) if tests.is_empty() && is_name(c) => Test::Name(self.name()?),
                Some(c) if tests.is_empty() => return Err(format!("unexpected `{c}`")),
                None if tests.is_empty() => return Err("a part is missing".to_owned()),
                _ => return Ok(tests),
            };
            tests.push(test);
            if tests.len() > limits::SELECTOR_TESTS {
                return Err(format!("more than {} tests in one part", limits::SELECTOR_TESTS));
            }
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.skip(1);
                let Some(escaped) = self.peek() else {
                    return Err("ends in `\\`".to_owned());
                };
                name.push(escaped);
                self.skip(escaped.len_utf8());
            } else if is_name(c) {
                name.push(c);
                self.skip(c.len_utf8());
            } else {
                break;
            }
        }
        match name.is_empty() {
            true => Err("a name is missing".to_owned()),
            false => Ok(name),
        }
    }

    /// Reads the inside of `[...]` and its closing bracket.
    fn attribute(&mut self) -> Result<Test, String> {
        self.skip_space();
        let name = self.name()?.to_ascii_lowercase();
        self.skip_space();
        let (relation, length) = match self.rest.as_bytes() {
            [b']', ..] => (Relation::Present, 0),
            [b'=', ..] => (Relation::Equals, 1),
            [b'^', b'=', ..] => (Relation::Begins, 2),
            [b'$', b'=', ..] => (Relation::Ends, 2),
            [b'*', b'=', ..] => (Relation::Contains, 2),
            [b'~', b'=', ..] => (Relation::Word, 2),
            [b'|', b'=', ..] => (Relation::Dash, 2),
            _ => return Err("`[` is not closed".to_owned()),
        };
        self.skip(length);
        let (mut value, mut ignore_case) = (String::new(), false);
        if relation != Relation::Present {
            self.skip_space();
            value = match self.peek() {
                Some(quote @ ('"' | '\'')) => {
                    self.skip(1);
                    let Some(end) = self.rest.find(quote) else {
                        return Err("a quote is not closed".to_owned());
                    };
                    let value = self.rest[..end].to_owned();
                    self.skip(end + 1);
                    value
                }
                _ => self.name()?,
            };
            if self.skip_space() && matches!(self.peek(), Some('i' | 'I')) {
                ignore_case = true;
                self.skip(1);
                self.skip_space();
            }
        }
        if self.peek() != Some(']') {
            return Err("`[` is not closed".to_owned());
        }
        self.skip(1);
        Ok(Test::Attribute {
            name,
            relation,
            value,
            ignore_case,
        })
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    fn check(selector: &str, expected: &[&str]) {
        let dom = parse(
            "<body><div id=a class='x y'><p id=b lang=en-GB data-u='https://x.test/a.pdf'>1<span id=c>2</span></p></div>\
             <section id=d class=x><div id=e><div id=f class='y z'><span id=g title='Hello'>3</span></div></div></section>",
        );
        let selector = Selector::parse(selector).unwrap();
        let found: Vec<&str> = (0..dom.len())
            .filter(|&n| selector.matches(&dom, n))
            .filter_map(|n| dom.attr(n, attr::ID))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_classes_and_ids() {
        check("span", &["c", "g"]);
        check("DIV.y", &["a", "f"]);
        check(".x.y", &["a"]);
        check("#f, p", &["b", "f"]);
        check("*.x", &["a", "d"]);
    }

    #[test]
    fn descendants_and_children() {
        check("div span", &["c", "g"]);
        check("div > span", &["g"]);
        check("section>div span", &["g"]);
        check("section > div > div > span", &["g"]);
        check("section > div > span", &[]);
        check(".x div > div span", &["g"]);
        check("section > span", &[]);
    }

    #[test]
    fn attributes() {
        check("[lang]", &["b"]);
        check("p[lang|=en]", &["b"]);
        check("[data-u^=\"https:\"][data-u$='.pdf']", &["b"]);
        check("[data-u*='x.test']", &["b"]);
        check("[class~=z]", &["f"]);
        check("[title=hello i]", &["g"]);
        check("[title=hello]", &[]);
    }

    #[test]
    fn errors_name_the_invalid_part() {
        for (selector, part) in [
            ("", "part is missing"),
            ("a:hover", "pseudo"),
            ("a + b", "`+`"),
            ("a,", "part is missing"),
            ("[x", "not closed"),
            ("[x='y]", "quote"),
            ("a..b", "name is missing"),
            ("a]", "unexpected"),
        ] {
            let error = Selector::parse(selector).unwrap_err().to_string();
            assert!(error.contains(part), "{selector}: {error}");
        }
        assert!(Selector::parse(&"a ".repeat(17)).is_err());
        assert!(Selector::parse(&"a,".repeat(65)).is_err());
        assert!(Selector::parse(&"a".repeat(1001)).is_err());
    }
}
