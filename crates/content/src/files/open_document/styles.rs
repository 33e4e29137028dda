//! OpenDocument styles: resolves a style name, with its parents, to text properties.

use std::collections::HashMap;

use crate::files::FileError;
use crate::files::text_format::{Script, TextFormat};
use crate::files::xml::{self, Attributes, Node};

/// Maximum number of ancestors of a style.
const PARENTS: usize = 16;

/// Properties declared by one style.
#[derive(Clone, Debug, Default)]
struct Style {
    parent: Option<String>,
    display_name: String,
    bold: Option<bool>,
    italic: Option<bool>,
    struck: Option<bool>,
    script: Option<Script>,
    hidden: bool,
}

/// All styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// Levels of list styles with numbers, with bullets and without marks, as bits.
    lists: HashMap<String, [u16; 3]>,
    /// The first number of a level of a list style, if it is not 1.
    starts: HashMap<(String, usize), u32>,
}

impl Styles {
    /// Adds the styles declared in a part of the package.
    pub(super) fn add(&mut self, xml: &str) -> Result<(), FileError> {
        let mut current: Option<String> = None;
        let mut list: Option<String> = None;
        xml::walk(xml, |node| match node {
            Node::Start(name, attributes) => match name.as_str() {
                "style:style" => {
                    let own = attributes.find("style:name").unwrap_or_default().to_owned();
                    let style = Style {
                        parent: attributes.find("style:parent-style-name").map(str::to_owned),
                        display_name: display_name(attributes.find("style:display-name").unwrap_or(&own)),
                        ..Style::default()
                    };
                    self.styles.insert(own.clone(), style);
                    current = Some(own);
                }
                "style:text-properties" | "style:table-properties" | "style:drawing-page-properties" => {
                    if let Some(style) = current.as_ref().and_then(|name| self.styles.get_mut(name)) {
                        style.read(&attributes);
                    }
                }
                "text:list-style" => list = attributes.find("style:name").map(str::to_owned),
                "text:list-level-style-number" | "text:list-level-style-bullet" => {
                    let level = attributes.count("text:level", 10);
                    if let Some(list) = &list {
                        let levels = self.lists.entry(list.clone()).or_default();
                        let is_bullet = name.ends_with("bullet");
                        let mark = if is_bullet {
                            "text:bullet-char"
                        } else {
                            "style:num-format"
                        };
                        let kind = match attributes.find(mark) {
                            Some(mark) if mark.trim().is_empty() => 2,
                            _ => usize::from(is_bullet),
                        };
                        levels[kind] |= 1 << level;
                        if let Some(start) = attributes.number("text:start-value") {
                            self.starts.insert((list.clone(), level), start);
                        }
                    }
                }
                _ => {}
            },
            Node::End(name) if name == "style:style" => current = None,
            Node::End(name) if name == "text:list-style" => list = None,
            Node::End(_) | Node::Text(_) => {}
        })
    }

    /// Returns whether a level of a list style, from 1, is numbered. A level that the style leaves out is like others.
    pub(super) fn is_numbered(&self, list: &str, level: usize) -> bool {
        let level = 1 << level.min(10);
        self.lists.get(list).is_some_and(
            |[numbers, bullets, unmarked]| match numbers | bullets | unmarked {
                given if given & level == 0 => *numbers != 0,
                _ => numbers & level != 0,
            },
        )
    }

    /// Returns whether the items on a level of a list style, from 1, have neither number nor bullet.
    pub(super) fn is_unmarked(&self, list: &str, level: usize) -> bool {
        let levels = self.lists.get(list);
        levels.is_some_and(|[.., unmarked]| unmarked & 1 << level.min(10) != 0)
    }

    /// Returns the number that a level of a list style, from 1, starts with.
    pub(super) fn start(&self, list: &str, level: usize) -> u32 {
        *self.starts.get(&(list.to_owned(), level)).unwrap_or(&1)
    }

    /// Returns whether content with this style is hidden.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.chain(name).any(|style| style.hidden)
    }

    pub(super) fn format(&self, name: &str) -> TextFormat {
        let resolve = |what: fn(&Style) -> Option<bool>| self.chain(name).find_map(what).unwrap_or(false);
        let script = self.chain(name).find_map(|style| style.script);
        TextFormat {
            bold: resolve(|style| style.bold),
            italic: resolve(|style| style.italic),
            struck: resolve(|style| style.struck),
            script: script.unwrap_or_default(),
            code: false,
        }
    }

    /// Returns the heading that the style or an ancestor stands for: the title of a document, or a heading of a level.
    pub(super) fn heading(&self, name: &str) -> Option<&'static str> {
        self.names(name).find_map(|name| match name.as_str() {
            "title" | "heading 1" => Some("h1"),
            "heading 2" => Some("h2"),
            "heading 3" => Some("h3"),
            "heading 4" => Some("h4"),
            "heading 5" => Some("h5"),
            "heading 6" => Some("h6"),
            _ => None,
        })
    }

    /// Returns whether the name of the style or of an ancestor contains one of these lower-case words.
    pub(super) fn is_named(&self, name: &str, words: &[&str]) -> bool {
        self.names(name)
            .any(|name| words.iter().any(|word| name.contains(word)))
    }

    /// Returns the names of the style and its ancestors in lower case. The file may lack a style that programs know.
    fn names(&self, name: &str) -> impl Iterator<Item = String> {
        let unknown = (!self.styles.contains_key(name)).then(|| display_name(name));
        let known = self.chain(name).map(|style| style.display_name.clone());
        unknown.into_iter().chain(known).map(|name| name.to_lowercase())
    }

    fn chain<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Style> {
        let first = self.styles.get(name);
        std::iter::successors(first, |style| self.styles.get(style.parent.as_deref()?)).take(PARENTS)
    }
}

/// Returns the name of a style as programs show it.
fn display_name(name: &str) -> String {
    name.replace("_20_", " ")
}

impl Style {
    fn read(&mut self, attributes: &Attributes) {
        if let Some(weight) = attributes.find("fo:font-weight") {
            self.bold = Some(weight == "bold" || weight.parse::<u32>().is_ok_and(|weight| weight >= 600));
        }
        if let Some(style) = attributes.find("fo:font-style") {
            self.italic = Some(style != "normal");
        }
        if let Some(line) = attributes.find("style:text-line-through-style") {
            self.struck = Some(line != "none");
        }
        if let Some(position) = attributes.find("style:text-position") {
            let raised = position.split_whitespace().next().unwrap_or_default();
            let percent = raised.trim_end_matches('%').parse().unwrap_or(0.0);
            self.script = Some(match raised {
                "super" => Script::Super,
                "sub" => Script::Sub,
                _ if percent > 0.0 => Script::Super,
                _ if percent < 0.0 => Script::Sub,
                _ => Script::Normal,
            });
        }
        self.hidden |= attributes.find("table:display") == Some("false")
            || attributes.find("text:display") == Some("none")
            || attributes.find("presentation:visibility") == Some("hidden");
    }
}
