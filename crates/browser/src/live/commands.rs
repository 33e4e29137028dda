//! Browser commands on the current page of a live browser, and on its tabs.

use std::sync::Arc;

use serde_json::json;
use tokio::time::{Instant, timeout_at};

use crate::cdp::text;
use crate::commands::{Command, CommandError, CommandRunner, Line, Script, Tab, WaitCondition};
use crate::limits;
use crate::page::Page;
use crate::snapshot::Snapshot;
use crate::worker::{Execution, TIMED_OUT};

use super::LiveBrowser;

/// Exit code of a failed script.
const FAILED: i32 = 1;

/// Executes a script line by line until a line fails or the deadline passes.
pub(crate) async fn run(browser: &LiveBrowser, script: &str, deadline: Instant) -> Execution {
    let mut execution = Execution::default();
    for line in Script::new(script) {
        let (number, result) = match line {
            Ok(Line { number, words }) => match Command::parse(&words) {
                Ok(command) => (number, browser.command(&command, deadline).await),
                Err(reason) => (number, Err(CommandError::Failed(reason))),
            },
            Err(error) => (error.number, Err(CommandError::Failed(error.reason))),
        };
        match result {
            Ok(output) => print(&mut execution.stdout, &output),
            Err(error) => {
                let message = format!("line {number}: {error}");
                print(&mut execution.stderr, &message);
                execution.killed = error == CommandError::Timeout && Instant::now() >= deadline;
                execution.exit_code = if execution.killed { TIMED_OUT } else { FAILED };
                execution.error = Some(message);
                break;
            }
        }
    }
    execution
}

/// Returns whether a command starts again on the new page when the current page changes.
fn follows_current_page(command: &Command) -> bool {
    matches!(command, Command::Wait { until, .. } if !matches!(until, WaitCondition::Time(_)))
}

/// Appends a text and a newline, up to [`limits::MAX_OUTPUT_BYTES`].
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
    /// Executes one command on the current page and returns its output.
    ///
    /// # Errors
    /// Any [`CommandError`].
    pub async fn command(&self, command: &Command, deadline: Instant) -> Result<String, CommandError> {
        self.touch();
        let work = async {
            if let Command::Tab(tab) = command {
                return self.tab(tab, deadline).await;
            }
            loop {
                let page = self.page().await?;
                let runner = self.runner(&page, deadline);
                tokio::select! {
                    biased;
                    result = runner.run(command) => {
                        // A page opened by the command is the current one for the next command.
                        self.pages().wait_until_set_up().await?;
                        return result;
                    }
                    () = self.until_current_page_changes(&page), if follows_current_page(command) => {}
                }
            }
        };
        let result = timeout_at(deadline, work).await;
        self.touch();
        let result = result.unwrap_or(Err(CommandError::Timeout));
        if result == Err(CommandError::Timeout)
            && let Some(page) = self.pages().current()
        {
            // The next command can use the page.
            tokio::spawn(async move { page.terminate_hanging_script(limits::RESPONSE_TIMEOUT).await });
        }
        result
    }

    /// Returns the current page as text. Its references are valid in commands until the next snapshot, as
    /// long as the document stays the same.
    ///
    /// # Errors
    /// Any [`CommandError`].
    pub async fn snapshot(&self, interactive: bool, deadline: Instant) -> Result<Snapshot, CommandError> {
        self.touch();
        let work = async {
            let page = self.page().await?;
            self.runner(&page, deadline).snapshot(interactive).await
        };
        timeout_at(deadline, work)
            .await
            .unwrap_or(Err(CommandError::Timeout))
    }

    /// Waits until another page becomes the current one.
    async fn until_current_page_changes(&self, page: &Page) {
        while self
            .pages()
            .current()
            .is_none_or(|current| current.target() == page.target())
        {
            tokio::time::sleep(limits::POLL).await;
        }
    }

    fn runner<'a>(&'a self, page: &'a Page, deadline: Instant) -> CommandRunner<'a> {
        CommandRunner {
            connection: self.connection(),
            files: self.files(),
            page,
            state: self.command_state(),
            deadline,
        }
    }

    async fn tab(&self, tab: &Tab, deadline: Instant) -> Result<String, CommandError> {
        let page_number = |number: usize| -> Result<Arc<Page>, CommandError> {
            let pages = self.pages().all();
            let page = number.checked_sub(1).and_then(|at| pages.get(at)).cloned();
            page.ok_or_else(|| {
                CommandError::Failed(format!("no tab {number}; number of open tabs: {}", pages.len()))
            })
        };
        match tab {
            Tab::List => self.tabs().await,
            Tab::New(url) => {
                let page = self.pages().create().await?;
                match url {
                    Some(url) => {
                        self.runner(&page, deadline)
                            .run(&Command::Open(url.clone()))
                            .await
                    }
                    None => self.tabs().await,
                }
            }
            Tab::Select(number) => {
                self.pages().choose(page_number(*number)?.target());
                self.tabs().await
            }
            Tab::Close(number) => {
                let page = match number {
                    Some(number) => page_number(*number)?,
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

    /// Lists the tabs, one per line, with a mark at the current one.
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
