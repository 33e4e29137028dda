//! Parses the words of a line into a command.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use harvestman_core::api::url_field::with_scheme;
use url::Url;

use super::{Act, By, Command, Direction, ElementState, Find, Property, Tab, Target, WaitCondition};
use crate::limits;

/// The commands listed in error messages.
const COMMAND_NAMES: &str = "open, snapshot, click, dblclick, hover, focus, fill, type, press, check, uncheck, select, \
    upload, scroll, scrollintoview, get, is, find, wait, screenshot, eval, read, back, forward, reload, tab";

impl Command {
    /// Parses the words of one line, with or without `agent-browser` in front.
    ///
    /// # Errors
    /// A message that says what is wrong and what is accepted.
    pub fn parse(words: &[String]) -> Result<Command, String> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words.starts_with(&["npx"]) && words.len() > 1 {
            words.remove(0);
        }
        if words.starts_with(&["agent-browser"]) {
            words.remove(0);
        }
        let Some((name, rest)) = words.split_first() else {
            return Err(format!("`agent-browser` needs a command: {COMMAND_NAMES}"));
        };
        Words::new(name, rest).command()
    }
}

/// The words after the name of a command. Options are removed when they are read; the rest stays in order.
struct Words<'a> {
    name: &'a str,
    rest: VecDeque<&'a str>,
}

impl<'a> Words<'a> {
    fn new(name: &'a str, rest: &[&'a str]) -> Words<'a> {
        Words {
            name,
            rest: rest.iter().copied().collect(),
        }
    }

    fn command(mut self) -> Result<Command, String> {
        let command = match self.name {
            "open" | "goto" | "navigate" => Command::Open(url(self.next("a URL")?)?),
            "back" => Command::Back,
            "forward" => Command::Forward,
            "reload" => Command::Reload,
            "snapshot" => Command::Snapshot {
                interactive: self.flag(&["-i", "--interactive"]),
            },
            "press" | "key" => self.press()?,
            "keyboard" => self.keyboard()?,
            "scroll" => self.scroll()?,
            "get" => Command::Get(self.get()?),
            "is" => {
                let state = match self.next("visible, enabled or checked")? {
                    "visible" => ElementState::Visible,
                    "enabled" => ElementState::Enabled,
                    "checked" => ElementState::Checked,
                    other => return unexpected("is", "visible, enabled and checked", other),
                };
                Command::Is(state, self.target()?)
            }
            "find" => self.find()?,
            "wait" => self.wait()?,
            "screenshot" => self.screenshot()?,
            "eval" => Command::Eval(self.text("a script in quotes")?),
            "read" => Command::Read((!self.rest.is_empty()).then(|| self.take_rest())),
            "tab" => Command::Tab(self.tab()?),
            name => {
                let Some(parse_act) = act(name) else {
                    return Err(format!(
                        "unknown command `{name}`; available commands: {COMMAND_NAMES}"
                    ));
                };
                let target = self.target()?;
                let act = parse_act(&mut self)?;
                Command::Act(target, act)
            }
        };
        match self.rest.front() {
            None => Ok(command),
            Some(more) if more.starts_with('-') => Err(format!("`{}` has no option `{more}`", self.name)),
            Some(more) => Err(format!(
                "`{}` does not accept `{more}`; quote arguments that contain spaces",
                self.name
            )),
        }
    }

    /// Takes all remaining words, at least one.
    fn list(&mut self, expected: &str) -> Result<Vec<String>, String> {
        let first = self.next(expected)?.to_owned();
        let more = self.rest.drain(..).map(str::to_owned);
        Ok(std::iter::once(first).chain(more).collect())
    }

    fn press(&mut self) -> Result<Command, String> {
        let first = self.next("a key, such as Enter")?;
        Ok(match self.rest.pop_front() {
            Some(key) => Command::Act(target(first)?, Act::Press(key.to_owned())),
            None => Command::Press(first.to_owned()),
        })
    }

    fn keyboard(&mut self) -> Result<Command, String> {
        match self.next("type or press")? {
            "type" | "inserttext" => Ok(Command::Type(self.text("a text")?)),
            "press" => Ok(Command::Press(self.next("a key, such as Enter")?.to_owned())),
            other => unexpected("keyboard", "type and press", other),
        }
    }

    fn scroll(&mut self) -> Result<Command, String> {
        let selector = self.option(&["-s", "--selector"])?;
        let direction = match self.rest.pop_front().unwrap_or("down") {
            "up" => Direction::Up,
            "down" => Direction::Down,
            "left" => Direction::Left,
            "right" => Direction::Right,
            other => return unexpected("scroll", "up, down, left and right", other),
        };
        let mut pixels = limits::SCROLL_PIXELS;
        if let Some(value) = self.rest.pop_front() {
            pixels = value
                .trim_end_matches("px")
                .parse()
                .map_err(|_| format!("`{value}` is not a number of pixels"))?;
        }
        Ok(Command::Scroll {
            direction,
            pixels,
            target: selector.map(target).transpose()?,
        })
    }

    fn get(&mut self) -> Result<Property, String> {
        Ok(match self.next("text, html, value, attr, url, title or count")? {
            "text" => Property::Text(self.optional_target()?),
            "html" => Property::Html(self.optional_target()?),
            "value" => Property::Value(self.target()?),
            "attr" => {
                // Both orders are in use.
                let (first, second) = (self.next("an element")?, self.next("an attribute name")?);
                if is_reference(second) {
                    Property::Attribute(target(second)?, first.to_owned())
                } else {
                    Property::Attribute(target(first)?, second.to_owned())
                }
            }
            "url" => Property::Url,
            "title" => Property::Title,
            "count" => match self.target()? {
                Target::Find(find) => Property::Count(find),
                Target::Reference(_) => return Err("`get count` needs a selector".to_owned()),
            },
            other => {
                return unexpected("get", "text, html, value, attr, url, title and count", other);
            }
        })
    }

    fn find(&mut self) -> Result<Command, String> {
        let name = self.option(&["--name"])?.map(str::to_owned);
        let exact = self.flag(&["--exact"]);
        let mut nth = 0;
        let by = match self.next("role, text, label, placeholder, alt, title, testid, first, last or nth")? {
            "role" => By::Role,
            "text" => By::Text,
            "label" => By::Label,
            "placeholder" => By::Placeholder,
            "alt" => By::Alt,
            "title" => By::Title,
            "testid" => By::TestId,
            "first" => By::Css,
            "last" => {
                nth = -1;
                By::Css
            }
            "nth" => {
                let value = self.next("a number from 0")?;
                nth = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
                By::Css
            }
            other => {
                let accepted = "role, text, label, placeholder, alt, title, testid, first, last and nth";
                return unexpected("find", accepted, other);
            }
        };
        let found = Target::Find(Find {
            by,
            words: self.next("a text or selector to find")?.to_owned(),
            name,
            exact,
            nth,
        });
        let action = self.rest.pop_front().unwrap_or("click");
        Ok(match action {
            "text" => Command::Get(Property::Text(Some(found))),
            action => match act(action) {
                Some(parse_act) => Command::Act(found, parse_act(self)?),
                None => {
                    let accepted = "the actions click, fill, type, check, hover, focus ...";
                    return unexpected("find", accepted, action);
                }
            },
        })
    }

    fn wait(&mut self) -> Result<Command, String> {
        let timeout = self.option(&["--timeout"])?.map(milliseconds).transpose()?;
        let until = if let Some(text) = self.option(&["-t", "--text"])? {
            WaitCondition::Text(text.to_owned())
        } else if let Some(url) = self.option(&["-u", "--url"])? {
            WaitCondition::Url(url.to_owned())
        } else if let Some(script) = self.option(&["-f", "--fn"])? {
            WaitCondition::Script(script.to_owned())
        } else if let Some(state) = self.option(&["-l", "--load"])? {
            match state {
                "load" | "domcontentloaded" => WaitCondition::Load,
                "networkidle" => WaitCondition::NetworkIdle,
                other => {
                    return unexpected("wait --load", "load, domcontentloaded and networkidle", other);
                }
            }
        } else {
            let value = self.next("an element, milliseconds, --text, --url, --load or --fn")?;
            match milliseconds(value) {
                Ok(time) => WaitCondition::Time(time),
                Err(_) => WaitCondition::Visible(target(value)?),
            }
        };
        Ok(Command::Wait { until, timeout })
    }

    /// Parses `screenshot`. A file name only selects the image format: there are no files, so the image is printed.
    fn screenshot(&mut self) -> Result<Command, String> {
        let full = self.flag(&["-f", "--full"]);
        let jpeg = match self.rest.front().filter(|name| !name.starts_with('-')) {
            Some(name) => {
                let kind = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
                let jpeg = match kind.as_str() {
                    "png" => false,
                    "jpg" | "jpeg" => true,
                    _ => return Err(format!("`{name}` does not end in .png, .jpg or .jpeg")),
                };
                self.rest.pop_front();
                jpeg
            }
            None => false,
        };
        Ok(Command::Screenshot { full, jpeg })
    }

    fn tab(&mut self) -> Result<Tab, String> {
        let number = |word: &str| {
            let digits = word.strip_prefix('t').unwrap_or(word);
            digits.parse().ok().filter(|number| *number > 0)
        };
        let Some(word) = self.rest.pop_front() else {
            return Ok(Tab::List);
        };
        Ok(match word {
            "list" => Tab::List,
            "new" => Tab::New(self.rest.pop_front().map(url).transpose()?),
            "close" => {
                match self.rest.pop_front() {
                    Some(value) => Tab::Close(Some(number(value).ok_or_else(|| {
                        format!("`{value}` is not a tab number; tabs are numbered from 1")
                    })?)),
                    None => Tab::Close(None),
                }
            }
            other => Tab::Select(number(other).ok_or_else(|| {
                format!("`tab` accepts list, new, close and a tab number from 1, not `{other}`")
            })?),
        })
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, String> {
        self.rest
            .pop_front()
            .ok_or_else(|| format!("`{}` needs {expected}", self.name))
    }

    fn target(&mut self) -> Result<Target, String> {
        target(self.next("an element: a reference such as @e1, or a selector")?)
    }

    fn optional_target(&mut self) -> Result<Option<Target>, String> {
        self.rest.pop_front().map(target).transpose()
    }

    /// Returns the remaining words as one text, joined by spaces.
    fn text(&mut self, expected: &str) -> Result<String, String> {
        if self.rest.is_empty() {
            return Err(format!("`{}` needs {expected}", self.name));
        }
        Ok(self.take_rest())
    }

    fn take_rest(&mut self) -> String {
        let words: Vec<&str> = self.rest.drain(..).collect();
        words.join(" ")
    }

    fn flag(&mut self, names: &[&str]) -> bool {
        let before = self.rest.len();
        self.rest.retain(|word| !names.contains(word));
        self.rest.len() < before
    }

    fn option(&mut self, names: &[&str]) -> Result<Option<&'a str>, String> {
        let Some(at) = self.rest.iter().position(|word| names.contains(word)) else {
            return Ok(None);
        };
        let name = self.rest.remove(at).unwrap_or_default();
        let value = self.rest.remove(at);
        value
            .map(Some)
            .ok_or_else(|| format!("`{name}` of `{}` needs a value", self.name))
    }
}

fn unexpected<T>(name: &str, accepted: &str, given: &str) -> Result<T, String> {
    Err(format!("`{name}` accepts {accepted}, not `{given}`"))
}

type ParseAct = fn(&mut Words<'_>) -> Result<Act, String>;

/// Returns the parser for the arguments of an action on an element.
fn act(name: &str) -> Option<ParseAct> {
    Some(match name {
        "click" => |_| Ok(Act::Click),
        "dblclick" => |_| Ok(Act::DoubleClick),
        "hover" => |_| Ok(Act::Hover),
        "focus" => |_| Ok(Act::Focus),
        "check" => |_| Ok(Act::Check),
        "uncheck" => |_| Ok(Act::Uncheck),
        "scrollintoview" | "scrollinto" => |_| Ok(Act::ScrollIntoView),
        "fill" => |words| Ok(Act::Fill(words.text("a text")?)),
        "type" => |words| Ok(Act::Type(words.text("a text")?)),
        "press" => |words| Ok(Act::Press(words.next("a key, such as Enter")?.to_owned())),
        "select" => |words| Ok(Act::Select(words.list("an option")?)),
        "upload" => |words| Ok(Act::Upload(words.list("a file of the session")?)),
        _ => return None,
    })
}

/// Parses `@e1`, `ref=e1`, `e1`, `text=...`, `xpath=...`, `//...` and CSS selectors.
fn target(word: &str) -> Result<Target, String> {
    if let Some(number) = reference(word) {
        return Ok(Target::Reference(number));
    }
    if is_reference(word) {
        return Err(format!(
            "`{word}` is not a reference; references look like @e1, shown in snapshots as [ref=e1]"
        ));
    }
    let (by, words) = if let Some(text) = word.strip_prefix("text=") {
        (By::Text, text)
    } else if let Some(path) = word.strip_prefix("xpath=") {
        (By::XPath, path)
    } else if word.starts_with("//") {
        (By::XPath, word)
    } else {
        (By::Css, word.strip_prefix("css=").unwrap_or(word))
    };
    // Quoted text must match exactly.
    let quoted = words.strip_prefix('"').and_then(|words| words.strip_suffix('"'));
    let exact = by == By::Text && quoted.is_some();
    let words = if exact { quoted.unwrap_or(words) } else { words };
    if words.trim().is_empty() {
        return Err("the selector is empty; use a reference such as @e1, or a selector".to_owned());
    }
    Ok(Target::Find(Find {
        by,
        words: words.to_owned(),
        name: None,
        exact,
        nth: 0,
    }))
}

fn reference(word: &str) -> Option<usize> {
    let name = word.strip_prefix("ref=").unwrap_or(word);
    let name = name.strip_prefix('@').unwrap_or(name);
    let digits = name.strip_prefix('e')?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn is_reference(word: &str) -> bool {
    word.starts_with('@') || word.starts_with("ref=")
}

fn milliseconds(word: &str) -> Result<Duration, String> {
    let time: u64 = word
        .strip_suffix("ms")
        .unwrap_or(word)
        .parse()
        .map_err(|_| format!("`{word}` is not a number of milliseconds"))?;
    Ok(Duration::from_millis(time))
}

/// Parses a URL that may be opened. One without a scheme gets https, or http for this machine.
fn url(word: &str) -> Result<Url, String> {
    let refusal = |why: &dyn std::fmt::Display| format!("cannot open `{word}`: {why}");
    let is_local = word.starts_with("localhost") || word.starts_with("127.");
    let url = match with_scheme(word) {
        Cow::Owned(_) if is_local => Url::parse(&format!("http://{word}")),
        whole => Url::parse(&whole),
    };
    let url = url.map_err(|error| refusal(&error))?;
    match url.scheme() {
        "http" | "https" if url.as_str().len() <= limits::MAX_URL_BYTES => Ok(url),
        "http" | "https" => Err(refusal(&"the URL is too long")),
        "about" if url.as_str() == "about:blank" => Ok(url),
        _ => Err(refusal(&"only http and https URLs and about:blank are allowed")),
    }
}

#[cfg(test)]
mod tests;
