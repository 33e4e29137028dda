//! Browser commands: what `language: "bash"` of a session runs, and the tools of an agent.
//!
//! The words are those of the agent-browser program (`open`, `snapshot`, `click @e1`, `fill`, `get text` ...), one
//! command a line or joined by `&&`. They are carried out here, over the browser's own protocol: there is no
//! shell, no file and no process behind them.

mod error;
mod glob;
mod look;
mod memory;
mod parse;
mod run;
mod script;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::cdp::text;
use crate::error::BrowserError;
use crate::limits;
use crate::live::LiveBrowser;
use crate::page::Page;
use crate::snapshot::Snapshot;
use crate::worker::Execution;
use run::Hand;
use script::{Line, Script};

pub use error::CommandError;
pub(crate) use memory::Memory;

/// Exit code of a script that has failed.
const FAILED: i32 = 1;
/// Exit code of a script whose time was over.
const OUT_OF_TIME: i32 = 124;

/// One thing to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Go to an address: `http`, `https` or `about:blank`.
    Open(Url),
    /// Go back in the history.
    Back,
    /// Go forward in the history.
    Forward,
    /// Load the page anew.
    Reload,
    /// The page as text, with references; see [`crate::Snapshot`].
    Snapshot {
        /// Only what takes input.
        interactive: bool,
    },
    /// Act on an element.
    Act(Target, Act),
    /// Press a key by its DOM name, such as `Enter` or `Control+A`.
    Press(String),
    /// Type into what has the focus.
    Type(String),
    /// Scroll the page, or an element.
    Scroll {
        /// Where to.
        direction: Direction,
        /// How far, CSS pixels.
        pixels: u32,
        /// Element to scroll; none: the page.
        target: Option<Target>,
    },
    /// Tell something about the page or an element.
    Get(Asked),
    /// Tell `true` or `false` about an element.
    Is(State, Target),
    /// Wait for something.
    Wait {
        /// For what.
        until: Awaited,
        /// How long at most; none: [`crate::limits::WAIT_TIMEOUT`].
        timeout: Option<Duration>,
    },
    /// A picture as a `data:` address.
    Screenshot {
        /// Of the whole page.
        full: bool,
        /// JPEG rather than PNG.
        jpeg: bool,
    },
    /// Value of a script among the page's own.
    Eval(String),
    /// What the page says about something, in words: the text or value that belongs to it; none: all its text.
    Read(Option<String>),
    /// Look after tabs.
    Tab(Tab),
}

/// Something to do with an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Click it.
    Click,
    /// Click it twice.
    DoubleClick,
    /// Move the pointer over it.
    Hover,
    /// Give it the focus.
    Focus,
    /// Replace what is written in it.
    Fill(String),
    /// Write more into it, key by key.
    Type(String),
    /// Press a key in it.
    Press(String),
    /// Tick it.
    Check,
    /// Take the tick off.
    Uncheck,
    /// Choose these options, by value or text.
    Select(Vec<String>),
    /// Bring it into view.
    ScrollIntoView,
}

/// Which element is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Of the last snapshot: `@e1`.
    Reference(usize),
    /// Found on the page.
    Find(Find),
}

/// How an element is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Find {
    /// By what.
    pub by: By,
    /// The selector, text or role.
    pub words: String,
    /// Accessible name, with [`By::Role`].
    pub name: Option<String>,
    /// Words must be the same, rather than be in it in any case.
    pub exact: bool,
    /// Which of several: from 0; the last below 0.
    pub nth: i32,
}

/// By what an element is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// CSS selector.
    Css,
    /// XPath.
    XPath,
    /// Text that it shows.
    Text,
    /// Label of a field.
    Label,
    /// Placeholder of a field.
    Placeholder,
    /// Text instead of a picture.
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

/// What `get` tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Text of an element; none: of the page.
    Text(Option<Target>),
    /// HTML inside an element; none: of the page.
    Html(Option<Target>),
    /// Value of a field.
    Value(Target),
    /// An attribute.
    Attribute(Target, String),
    /// Address of the page.
    Url,
    /// Title of the page.
    Title,
    /// How many elements there are.
    Count(Find),
}

/// What `is` tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Can be seen.
    Visible,
    /// Can be used.
    Enabled,
    /// Is ticked.
    Checked,
}

/// What `wait` waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A time.
    Time(Duration),
    /// An element that can be seen.
    Visible(Target),
    /// A text on the page.
    Text(String),
    /// An address, `*` for any part without a slash and `**` for any part.
    Url(String),
    /// `load` or `domcontentloaded`.
    Load,
    /// No requests on their way.
    Rest,
    /// A script whose value counts as true.
    Script(String),
}

/// What is done with tabs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tab {
    /// Lists them.
    List,
    /// Opens one.
    New(Option<Url>),
    /// Closes the current one, or that with a number from 1.
    Close(Option<usize>),
    /// Goes to that with a number from 1.
    Select(usize),
}

/// Carries a script out line by line until one fails or the deadline passes.
pub(crate) async fn run(browser: &LiveBrowser, script: &str, deadline: Instant) -> Execution {
    let mut execution = Execution::default();
    for line in Script::new(script) {
        let (number, done) = match line {
            Ok(Line { number, words }) => match Command::parse(&words) {
                Ok(command) => (number, browser.command(&command, deadline).await),
                Err(reason) => (number, Err(CommandError::Failed(reason))),
            },
            Err(unreadable) => (unreadable.number, Err(CommandError::Failed(unreadable.reason))),
        };
        match done {
            Ok(output) => print(&mut execution.stdout, &output),
            Err(error) => {
                let message = format!("line {number}: {error}");
                print(&mut execution.stderr, &message);
                execution.killed = error == CommandError::Timeout && Instant::now() >= deadline;
                execution.exit_code = if execution.killed { OUT_OF_TIME } else { FAILED };
                execution.error = Some(message);
                break;
            }
        }
    }
    execution
}

/// Ends a script that keeps a page from answering, so that the next command finds it as it is.
async fn set_free(page: Arc<Page>) {
    let patience = Instant::now() + limits::ANSWER_TIMEOUT;
    let ask = json!({"expression": "0"});
    let asked = page.session().call_until("Runtime.evaluate", ask, patience).await;
    if asked == Err(BrowserError::Timeout) {
        page.session().post("Runtime.terminateExecution", json!({}));
    }
}

/// Whether it is about whatever page is the current one, also when that changes meanwhile.
fn follows(command: &Command) -> bool {
    matches!(command, Command::Wait { until, .. } if !matches!(until, Awaited::Time(_)))
}

/// Appends a text with an end of line, as far as there is room.
fn print(to: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    let room = limits::MAX_OUTPUT_BYTES.saturating_sub(to.len() + 1);
    to.push_str(&text[..text.floor_char_boundary(room)]);
    if !to.ends_with('\n') && to.len() < limits::MAX_OUTPUT_BYTES {
        to.push('\n');
    }
}

impl LiveBrowser {
    /// Carries out one command on the current page; what it prints.
    ///
    /// # Errors
    /// Every [`CommandError`].
    pub async fn command(&self, command: &Command, deadline: Instant) -> Result<String, CommandError> {
        self.touch();
        let work = async {
            if let Command::Tab(tab) = command {
                return self.tab(tab, deadline).await;
            }
            loop {
                let page = self.page().await?;
                let hand = self.hand(&page, deadline);
                tokio::select! {
                    biased;
                    done = hand.run(command) => {
                        // A page that it opened is the current one for the next command.
                        self.pages().adopted().await?;
                        return done;
                    }
                    () = self.another(&page), if follows(command) => {}
                }
            }
        };
        let done = timeout_at(deadline, work).await;
        self.touch();
        let done = done.unwrap_or(Err(CommandError::Timeout));
        if done == Err(CommandError::Timeout)
            && let Some(page) = self.pages().current()
        {
            tokio::spawn(set_free(page));
        }
        done
    }

    /// The current page as text. Its references are good for commands until the next snapshot, and as long as the
    /// document is the same.
    ///
    /// # Errors
    /// Every [`CommandError`].
    pub async fn snapshot(&self, interactive: bool, deadline: Instant) -> Result<Snapshot, CommandError> {
        self.touch();
        let work = async {
            let page = self.page().await?;
            self.hand(&page, deadline).snapshot(interactive).await
        };
        timeout_at(deadline, work)
            .await
            .unwrap_or(Err(CommandError::Timeout))
    }

    /// Waits until another page is the current one.
    async fn another(&self, page: &Page) {
        while self
            .pages()
            .current()
            .is_none_or(|current| current.target() == page.target())
        {
            tokio::time::sleep(limits::POLL).await;
        }
    }

    fn hand<'a>(&'a self, page: &'a Page, deadline: Instant) -> Hand<'a> {
        Hand {
            connection: self.connection(),
            page,
            memory: self.memory(),
            deadline,
        }
    }

    async fn tab(&self, tab: &Tab, deadline: Instant) -> Result<String, CommandError> {
        let numbered = |number: usize| -> Result<Arc<Page>, CommandError> {
            let pages = self.pages().all();
            let page = number.checked_sub(1).and_then(|at| pages.get(at)).cloned();
            page.ok_or_else(|| {
                CommandError::Failed(format!("there is no tab {number}; there are {}", pages.len()))
            })
        };
        match tab {
            Tab::List => self.tabs().await,
            Tab::New(url) => {
                let page = self.pages().create().await?;
                match url {
                    Some(url) => self.hand(&page, deadline).run(&Command::Open(url.clone())).await,
                    None => self.tabs().await,
                }
            }
            Tab::Select(number) => {
                self.pages().choose(numbered(*number)?.target());
                self.tabs().await
            }
            Tab::Close(number) => {
                let page = match number {
                    Some(number) => numbered(*number)?,
                    None => self.page().await?,
                };
                page.close().await;
                while self
                    .pages()
                    .all()
                    .iter()
                    .any(|open| open.target() == page.target())
                {
                    if Instant::now() > deadline {
                        return Err(CommandError::Timeout);
                    }
                    tokio::time::sleep(limits::POLL).await;
                }
                self.page().await?;
                self.tabs().await
            }
        }
    }

    /// The tabs, a line each, with a mark at the current one.
    async fn tabs(&self) -> Result<String, CommandError> {
        let current = self.page().await?;
        let known = self.connection().call("Target.getTargets", json!({})).await?;
        let lines = self.pages().all().into_iter().enumerate().map(|(at, page)| {
            let mark = if page.target() == current.target() {
                "→"
            } else {
                " "
            };
            let mut targets = known["targetInfos"].as_array().into_iter().flatten();
            let info = targets.find(|target| target["targetId"] == page.target());
            let (title, url) =
                info.map_or_else(Default::default, |info| (text(info, "title"), text(info, "url")));
            format!("{mark} [{}] {title} - {url}", at + 1)
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}
