//! Browser commands: the language of `language: "bash"` in sessions, and the tools of an agent.
//!
//! The commands are those of the agent-browser program (`open`, `snapshot`, `click @e1`, `fill`, `get text`
//! ...), one per line or joined by `&&`. They are executed here, over the DevTools protocol: no shell, file
//! or process is involved.

mod error;
mod glob;
mod locate;
mod parse;
mod run;
mod script;
mod state;

use std::time::Duration;

use url::Url;

pub use error::CommandError;
pub(crate) use run::CommandRunner;
pub(crate) use script::{Line, Script};
pub(crate) use state::CommandState;

/// One browser command.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Open a URL: `http`, `https` or `about:blank`.
    Open(Url),
    /// Go back in the history.
    Back,
    /// Go forward in the history.
    Forward,
    /// Reload the page.
    Reload,
    /// Return the page as text, with references; see [`crate::Snapshot`].
    Snapshot {
        /// Include only elements that take input.
        interactive: bool,
    },
    /// Act on an element.
    Act(Target, Act),
    /// Press a key by its DOM name, such as `Enter` or `Control+A`.
    Press(String),
    /// Type into the focused element.
    Type(String),
    /// Scroll the page, or an element.
    Scroll {
        /// Direction of the scroll.
        direction: Direction,
        /// Distance in CSS pixels.
        pixels: u32,
        /// Element to scroll; `None`: the page.
        target: Option<Target>,
    },
    /// Return a property of the page or of an element.
    Get(Property),
    /// Return `true` or `false` for a state of an element.
    Is(ElementState, Target),
    /// Wait for a condition.
    Wait {
        /// The condition.
        until: WaitCondition,
        /// Maximum wait; `None`: [`crate::limits::WAIT_TIMEOUT`].
        timeout: Option<Duration>,
    },
    /// Take a screenshot and return it as a `data:` URL.
    Screenshot {
        /// Capture the whole page.
        full: bool,
        /// Use JPEG instead of PNG.
        jpeg: bool,
    },
    /// Evaluate a script in the page's own context.
    Eval(String),
    /// Return the text or value on the page that matches a description; `None`: all text of the page.
    Read(Option<String>),
    /// Manage tabs.
    Tab(Tab),
}

/// An action on an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Click it.
    Click,
    /// Click it twice.
    DoubleClick,
    /// Move the pointer over the element.
    Hover,
    /// Focus the element.
    Focus,
    /// Replace the text of a field.
    Fill(String),
    /// Type more text into a field, key by key.
    Type(String),
    /// Press a key in the element.
    Press(String),
    /// Check a checkbox.
    Check,
    /// Uncheck a checkbox.
    Uncheck,
    /// Select these options, by value or text.
    Select(Vec<String>),
    /// Put these files of the session into a file field, by name or path.
    Upload(Vec<String>),
    /// Scroll the element into view.
    ScrollIntoView,
}

/// The element that a command acts on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A reference of the last snapshot, such as `@e1`, as a number from 1.
    Reference(usize),
    /// An element found on the page.
    Find(Find),
}

/// A query for an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Find {
    /// The property to search by.
    pub by: By,
    /// The selector, text or role.
    pub words: String,
    /// Accessible name, with [`By::Role`].
    pub name: Option<String>,
    /// Match the whole text; otherwise any part of it, ignoring case.
    pub exact: bool,
    /// Index among several matches, from 0; negative numbers count from the end.
    pub nth: i32,
}

/// The property by which an element is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// CSS selector.
    Css,
    /// XPath.
    XPath,
    /// Visible text.
    Text,
    /// Label of a field.
    Label,
    /// Placeholder of a field.
    Placeholder,
    /// Alternative text of an image.
    Alt,
    /// Title.
    Title,
    /// `data-testid`.
    TestId,
    /// Role in the accessibility tree.
    Role,
}

/// Direction of a scroll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the top.
    Up,
    /// Towards the bottom.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// The property that `get` returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// Text of an element; `None`: of the page.
    Text(Option<Target>),
    /// Inner HTML of an element; `None`: HTML of the page.
    Html(Option<Target>),
    /// Value of a field.
    Value(Target),
    /// Value of an attribute.
    Attribute(Target, String),
    /// URL of the page.
    Url,
    /// Title of the page.
    Title,
    /// Number of matching elements.
    Count(Find),
}

/// The state that `is` tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementState {
    /// The element is visible.
    Visible,
    /// The element is enabled.
    Enabled,
    /// The element is checked.
    Checked,
}

/// The condition that `wait` waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WaitCondition {
    /// A duration has passed.
    Time(Duration),
    /// An element is visible.
    Visible(Target),
    /// A text is on the page.
    Text(String),
    /// The URL matches a pattern: `*` is any part without a slash, `**` any part.
    Url(String),
    /// The page has loaded (`load` or `domcontentloaded`).
    Load,
    /// No requests are in flight.
    NetworkIdle,
    /// The value of a script is truthy.
    Script(String),
}

/// An action on tabs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tab {
    /// List the tabs.
    List,
    /// Open a tab.
    New(Option<Url>),
    /// Close the current tab, or the one with this number, from 1.
    Close(Option<usize>),
    /// Switch to the tab with this number, from 1.
    Select(usize),
}
