//! Executes commands, one at a time, on the current page.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harvestman_core::api::format::Screenshot;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::error::CommandError;
use super::state::{CommandState, References};
use super::{Act, Command, Direction, ElementState, Property, Target, WaitCondition, glob};
use crate::actions;
use crate::cdp::Connection;
use crate::element::Element;
use crate::error::BrowserError;
use crate::files::{BrowserFiles, Upload};
use crate::keys::Key;
use crate::limits;
use crate::page::{Page, World};
use crate::picture;
use crate::snapshot::Snapshot;

/// Output of commands that have no result.
const DONE: &str = "✓ Done";

/// Executes commands on one page until a deadline.
pub(crate) struct CommandRunner<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) files: &'a BrowserFiles,
    pub(crate) page: &'a Page,
    pub(crate) state: &'a CommandState,
    pub(crate) deadline: Instant,
}

impl CommandRunner<'_> {
    /// Executes a command and returns its output. Tab commands are handled elsewhere.
    pub(crate) async fn run(&self, command: &Command) -> Result<String, CommandError> {
        match command {
            Command::Open(url) => self.open(url).await,
            Command::Back => self.history(-1).await,
            Command::Forward => self.history(1).await,
            Command::Reload => {
                let before = self.current_document();
                self.call("Page.reload", json!({})).await?;
                self.page.wait_for_navigation(before, self.deadline).await?;
                self.describe_document().await
            }
            Command::Snapshot { interactive } => Ok(self.snapshot(*interactive).await?.text),
            Command::Act(target, act) => self.act(target, act).await,
            Command::Press(key) => self.press(key).await,
            Command::Type(text) => {
                actions::write(self.page, text, self.deadline).await?;
                done()
            }
            Command::Scroll {
                direction,
                pixels,
                target,
            } => self.scroll(*direction, *pixels, target.as_ref()).await,
            Command::Get(property) => self.get(property).await,
            Command::Is(state, target) => {
                let element = self.locate(target).await?;
                Ok(has_state(&element, *state, self.deadline).await?.to_string())
            }
            Command::Wait { until, timeout } => self.wait(until, *timeout).await,
            Command::Screenshot { full, jpeg } => self.screenshot(*full, *jpeg).await,
            Command::Eval(script) => {
                let value = actions::execute(self.page, script, self.deadline).await?;
                self.page.after_input(self.deadline).await?;
                Ok(match value.value {
                    Value::String(text) => text,
                    Value::Null if value.kind == "undefined" => String::new(),
                    other => other.to_string(),
                })
            }
            Command::Read(words) => self.read(words.as_deref()).await,
            Command::Tab(_) => Err(CommandError::failed("a page has no tabs")),
        }
    }

    async fn open(&self, url: &Url) -> Result<String, CommandError> {
        self.page.navigate(url, self.deadline).await?;
        self.page.wait_until_idle(self.deadline).await?;
        self.describe_document().await
    }

    async fn history(&self, by: i64) -> Result<String, CommandError> {
        let Some(entry) = self.page.history_entry(by, self.deadline).await? else {
            let direction = if by < 0 { "back" } else { "forward" };
            return Err(CommandError::failed(format!("no page to go {direction} to")));
        };
        let before = self.current_document();
        self.call("Page.navigateToHistoryEntry", json!({"entryId": entry}))
            .await?;
        self.page.wait_for_navigation(before, self.deadline).await?;
        self.describe_document().await
    }

    /// Returns the loader id and URL of the current document.
    fn current_document(&self) -> (String, String) {
        let state = self.page.state();
        (state.loader.clone(), state.url.clone())
    }

    /// Returns the title and URL of the current document.
    async fn describe_document(&self) -> Result<String, CommandError> {
        self.page.after_input(self.deadline).await?;
        let shown = self.evaluate("[document.title, location.href]").await?;
        let (title, url) = (shown[0].as_str().unwrap_or(""), shown[1].as_str().unwrap_or(""));
        Ok(match title {
            "" => format!("✓ {url}"),
            title => format!("✓ {title}\n  {url}"),
        })
    }

    /// Returns the page as text. Its references are valid until the next snapshot.
    pub(crate) async fn snapshot(&self, interactive: bool) -> Result<Snapshot, CommandError> {
        self.wait_until_idle().await?;
        let document = self.page.state().loader.clone();
        let frames = &self.state.frames;
        let (frames, trees) = frames
            .with_trees(self.page, self.connection, self.deadline)
            .await?;
        let snapshot = Snapshot::of(&trees, interactive);
        self.state.set_references(References {
            target: self.page.target().to_owned(),
            document,
            frames,
            elements: snapshot.elements.clone(),
        });
        Ok(snapshot)
    }

    /// Waits for a busy page to become idle, at most [`limits::SETTLE_TIMEOUT`].
    async fn wait_until_idle(&self) -> Result<(), CommandError> {
        if self.page.state().loader.is_empty() {
            // No page was opened yet.
            return Ok(());
        }
        let wait_end = self.deadline.min(Instant::now() + limits::SETTLE_TIMEOUT);
        Ok(self.page.wait_until_idle(wait_end).await?)
    }

    async fn act(&self, target: &Target, act: &Act) -> Result<String, CommandError> {
        let element = self.locate(target).await?;
        let deadline = self.deadline;
        let needs_enabled = matches!(act, Act::Click | Act::DoubleClick | Act::Check | Act::Uncheck);
        if needs_enabled && !has_state(&element, ElementState::Enabled, deadline).await? {
            return Err(CommandError::failed(format!(
                "{} is disabled",
                self.state.describe(target)
            )));
        }
        let with_name = |error: BrowserError| match error {
            BrowserError::Refused { reason, .. } => {
                let reason = reason.trim_start_matches("Error: ");
                CommandError::failed(format!("{}: {reason}", self.state.describe(target)))
            }
            other => other.into(),
        };
        match act {
            Act::Click => element.click(self.page, 1, deadline).await?,
            Act::DoubleClick => element.click(self.page, 2, deadline).await?,
            Act::Hover => element.hover(self.page, deadline).await?,
            Act::Focus => self.focus(&element).await?,
            Act::Fill(text) => {
                let fill = element
                    .call(include_str!("fill.js"), json!([text]), deadline)
                    .await;
                if fill.map_err(with_name)? == Value::Bool(true) {
                    self.replace(text).await?;
                }
                self.page.after_input(deadline).await?;
            }
            Act::Type(text) => {
                self.focus(&element).await?;
                actions::write(self.page, text, deadline).await?;
            }
            Act::Press(key) => {
                self.focus(&element).await?;
                return self.press(key).await;
            }
            Act::Check => self.set_checked(&element, target, true).await?,
            Act::Uncheck => self.set_checked(&element, target, false).await?,
            Act::Select(options) => {
                let select = include_str!("select.js");
                let chosen = element
                    .call(select, json!([options]), deadline)
                    .await
                    .map_err(with_name)?;
                self.page.after_input(deadline).await?;
                return Ok(format!("✓ Selected {}", chosen.as_str().unwrap_or_default()));
            }
            Act::Upload(names) => {
                let files = self.files.uploads(names).map_err(CommandError::failed)?;
                let files: Vec<Value> = files.iter().map(Upload::argument).collect();
                element
                    .call(include_str!("set_files.js"), json!([files]), deadline)
                    .await
                    .map_err(with_name)?;
                self.page.after_input(deadline).await?;
            }
            Act::ScrollIntoView => {
                const SHOW: &str =
                    "function () { this.scrollIntoView({ block: 'center', behavior: 'instant' }); }";
                element.call(SHOW, json!([]), deadline).await?;
            }
        }
        done()
    }

    async fn focus(&self, element: &Element) -> Result<(), CommandError> {
        const FOCUS: &str = "function () {
            const field = this.localName === 'label' && this.control ? this.control : this;
            field.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
            field.focus();
        }";
        element.call(FOCUS, json!([]), self.deadline).await?;
        Ok(())
    }

    /// Replaces the selected text.
    async fn replace(&self, text: &str) -> Result<(), CommandError> {
        if text.is_empty() {
            if let Some(delete) = Key::parse("Delete") {
                delete.press(self.page.session()).await?;
            }
        } else {
            self.call("Input.insertText", json!({"text": text})).await?;
        }
        Ok(())
    }

    async fn press(&self, key: &str) -> Result<String, CommandError> {
        let Some(key) = Key::parse(key) else {
            return Err(CommandError::failed(format!(
                "unknown key `{key}`; key names are Enter, Tab, ArrowDown, a, Control+A ..."
            )));
        };
        key.press(self.page.session()).await?;
        self.page.after_input(self.deadline).await?;
        done()
    }

    async fn set_checked(
        &self,
        element: &Element,
        target: &Target,
        checked: bool,
    ) -> Result<(), CommandError> {
        if has_state(element, ElementState::Checked, self.deadline).await? == checked {
            return Ok(());
        }
        element.click(self.page, 1, self.deadline).await?;
        match has_state(element, ElementState::Checked, self.deadline).await {
            // The click may have opened another document.
            Ok(now) if now == checked => Ok(()),
            Err(CommandError::Failed(_)) => Ok(()),
            Ok(_) => Err(CommandError::failed(format!(
                "{} did not change when it was clicked",
                self.state.describe(target)
            ))),
            Err(error) => Err(error),
        }
    }

    async fn scroll(
        &self,
        direction: Direction,
        pixels: u32,
        target: Option<&Target>,
    ) -> Result<String, CommandError> {
        let pixels = i64::from(pixels);
        let (x, y) = match direction {
            Direction::Up => (0, -pixels),
            Direction::Down => (0, pixels),
            Direction::Left => (-pixels, 0),
            Direction::Right => (pixels, 0),
        };
        let element = match target {
            Some(target) => Some(self.locate(target).await?),
            None => {
                Element::from_function(
                    self.page,
                    include_str!("scroll_target.js"),
                    json!([]),
                    self.deadline,
                )
                .await?
            }
        };
        if let Some(element) = element {
            element
                .call(include_str!("scroll.js"), json!([x, y]), self.deadline)
                .await?;
        }
        self.page.after_input(self.deadline).await?;
        done()
    }

    async fn get(&self, property: &Property) -> Result<String, CommandError> {
        let (target, function) = match property {
            Property::Url => return self.evaluate_text("location.href").await,
            Property::Title => return self.evaluate_text("document.title").await,
            Property::Count(find) => return Ok(self.count(find).await?.to_string()),
            Property::Text(None) => return self.read(None).await,
            Property::Html(None) => return Ok(self.page.content(self.deadline).await?.html),
            Property::Text(Some(target)) => (
                target,
                "function () { return this.innerText ?? this.textContent; }",
            ),
            Property::Html(Some(target)) => (target, "function () { return this.innerHTML; }"),
            Property::Value(target) => (
                target,
                "function () { const e = this.localName === 'label' ? this.control : this; return e?.value ?? ''; }",
            ),
            Property::Attribute(target, _) => (target, "function (name) { return this.getAttribute(name); }"),
        };
        let arguments = match property {
            Property::Attribute(_, name) => json!([name]),
            _ => json!([]),
        };
        let element = self.locate(target).await?;
        let value = element.call(function, arguments, self.deadline).await?;
        Ok(match value {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        })
    }

    async fn wait(&self, until: &WaitCondition, timeout: Option<Duration>) -> Result<String, CommandError> {
        let wait_end = Instant::now() + timeout.unwrap_or(limits::WAIT_TIMEOUT);
        let end = self.deadline.min(wait_end);
        loop {
            let is_met = match until {
                WaitCondition::Time(time) => {
                    self.page.sleep(*time, self.deadline).await?;
                    true
                }
                WaitCondition::Load => {
                    let state = self.page.state();
                    state.dom_ready && state.loaded && !state.navigating
                }
                WaitCondition::NetworkIdle => {
                    self.page.wait_until_idle(end).await?;
                    Instant::now() < end
                }
                WaitCondition::Visible(target) => match self.locate_once(target).await? {
                    Some(element) => match has_state(&element, ElementState::Visible, self.deadline).await {
                        Err(CommandError::Failed(_)) => false,
                        visible => visible?,
                    },
                    None => false,
                },
                WaitCondition::Text(text) => {
                    let shown = ignore_error(self.evaluate("document.body?.innerText ?? ''").await)?;
                    shown.as_str().is_some_and(|shown| shown.contains(text))
                }
                WaitCondition::Url(pattern) => {
                    let url = self.page.state().url.clone();
                    glob::matches(pattern, &url)
                }
                WaitCondition::Script(script) => {
                    let value = self.page.evaluate(script, World::Page, self.deadline).await;
                    truthy(&ignore_error(value.map_err(CommandError::from))?)
                }
            };
            if is_met {
                return done();
            }
            if Instant::now() >= end {
                return match wait_end < self.deadline {
                    true => Err(CommandError::failed("the condition was not met in time")),
                    false => Err(CommandError::Timeout),
                };
            }
            tokio::time::sleep_until(end.min(Instant::now() + limits::POLL)).await;
        }
    }

    async fn screenshot(&self, full: bool, jpeg: bool) -> Result<String, CommandError> {
        let screenshot_options = Screenshot {
            full_page: full,
            quality: jpeg.then_some(limits::SCREENSHOT_QUALITY),
            ..Screenshot::default()
        };
        let picture = picture::capture(self.page, &screenshot_options, self.deadline).await?;
        let data = STANDARD.encode(&picture.bytes);
        Ok(format!("data:{};base64,{data}", picture.format.mime_type()))
    }

    async fn read(&self, words: Option<&str>) -> Result<String, CommandError> {
        self.wait_until_idle().await?;
        let Some(words) = words else {
            let script = format!(
                "(document.body?.innerText ?? '').slice(0, {})",
                limits::READ_CHARS
            );
            return self.evaluate_text(&script).await;
        };
        let script = format!(
            "({})({}, {})",
            include_str!("read.js"),
            Value::from(words),
            limits::READ_CHARS
        );
        match self.evaluate(&script).await? {
            Value::String(text) => Ok(text),
            _ => Err(CommandError::failed(format!(
                "nothing on the page matches `{words}`"
            ))),
        }
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<Value, CommandError> {
        let response = self.page.session().call_until(method, params, self.deadline);
        Ok(response.await?)
    }

    async fn evaluate(&self, script: &str) -> Result<Value, CommandError> {
        let value = self.page.evaluate(script, World::Isolated, self.deadline);
        Ok(value.await?)
    }

    async fn evaluate_text(&self, script: &str) -> Result<String, CommandError> {
        let value = self.evaluate(script).await?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }
}

async fn has_state(element: &Element, state: ElementState, deadline: Instant) -> Result<bool, CommandError> {
    let name = match state {
        ElementState::Visible => "visible",
        ElementState::Enabled => "enabled",
        ElementState::Checked => "checked",
    };
    let value = element
        .call(include_str!("state.js"), json!([name]), deadline)
        .await?;
    Ok(value == Value::Bool(true))
}

/// Turns an error, which is normal while a document is replaced by another, into null.
fn ignore_error(value: Result<Value, CommandError>) -> Result<Value, CommandError> {
    match value {
        Err(CommandError::Failed(_)) => Ok(Value::Null),
        other => other,
    }
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn done() -> Result<String, CommandError> {
    Ok(DONE.to_owned())
}
