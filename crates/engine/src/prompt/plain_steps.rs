//! Executes plain steps one after the other. Elements are found by their accessible names.

use std::time::Duration;

use harvestman_browser::commands::{Act, Command, Direction, Property, Target, WaitCondition};
use harvestman_core::interact::element::{ElementRef, ElementUse, Hint, choose};
use harvestman_core::interact::steps::{ReadTarget, Scroll, Step};
use tokio::time::Instant;

use super::tools::find_text;
use super::{PromptError, PromptRun};
use crate::limits;

/// Submits the form of the focused field, or the first form, as Enter would.
const SUBMIT_SCRIPT: &str = "{
    const form = document.activeElement?.form ?? document.querySelector('form');
    if (!form) throw new Error('the page has no form');
    form.requestSubmit();
}";

/// Executes steps until one fails.
pub(super) async fn run(work: &mut PromptRun<'_>, steps: &[Step]) -> Result<(), PromptError> {
    let mut texts: Vec<String> = Vec::new();
    let mut result = Ok(());
    for (at, step) in steps.iter().enumerate() {
        match work.step(step).await {
            Ok(None) => {}
            Ok(Some(text)) => texts.push(text),
            Err(failure) => {
                result = Err(match failure {
                    PromptError::Page(why) => PromptError::Page(format!("step {} ({step}): {why}", at + 1)),
                    other => other,
                });
                break;
            }
        }
    }
    work.outcome.output = match (texts.is_empty(), &result) {
        (false, _) => Some(texts.join("\n")),
        (true, Ok(())) => Some(format!(
            "{} step{} completed",
            steps.len(),
            if steps.len() == 1 { "" } else { "s" }
        )),
        (true, Err(_)) => None,
    };
    result
}

impl PromptRun<'_> {
    /// Executes one step and returns the text that it reads, if any.
    async fn step(&mut self, step: &Step) -> Result<Option<String>, PromptError> {
        if Instant::now() >= self.deadline {
            return Err(PromptError::Timeout);
        }
        self.log_step(&step.to_string());
        match step {
            Step::Open(url) => self.open(url).await?,
            Step::Back => self.command(Command::Back).await?,
            Step::Forward => self.command(Command::Forward).await?,
            Step::Reload => self.command(Command::Reload).await?,
            Step::Click(named, times) => {
                let act = if *times == 2 { Act::DoubleClick } else { Act::Click };
                self.act(named, ElementUse::Click, act).await?
            }
            Step::Hover(named) => self.act(named, ElementUse::Click, Act::Hover).await?,
            Step::Type(text, None) => self.command(Command::Type(text.clone())).await?,
            Step::Type(text, Some(field)) => self.fill(text, field).await?,
            Step::Search(text) => {
                let field = self.search_field().await?;
                self.command(Command::Act(field, Act::Fill(text.clone()))).await?;
                self.command(Command::Press("Enter".to_owned())).await?
            }
            Step::Press(key, times) => {
                for _ in 1..*times {
                    self.command(Command::Press(key.clone())).await?;
                }
                self.command(Command::Press(key.clone())).await?
            }
            Step::Select(option, list) => self.select(option, list.as_ref()).await?,
            Step::Check(named) => self.act(named, ElementUse::Check, Act::Check).await?,
            Step::Uncheck(named) => self.act(named, ElementUse::Check, Act::Uncheck).await?,
            Step::Submit => self.command(Command::Eval(SUBMIT_SCRIPT.to_owned())).await?,
            Step::Scroll(way) => self.scroll(way).await?,
            Step::Wait(ms) => self.wait(WaitCondition::Time(Duration::from_millis(*ms))).await?,
            Step::WaitFor(text) => {
                self.wait(WaitCondition::Visible(Target::Find(find_text(text))))
                    .await?
            }
            Step::WaitForPage => self.wait(WaitCondition::NetworkIdle).await?,
            Step::Read(subject) => {
                let command = match subject {
                    ReadTarget::Page => Command::Read(None),
                    ReadTarget::Title => Command::Get(Property::Title),
                    ReadTarget::Url => Command::Get(Property::Url),
                    ReadTarget::Words(words) => Command::Read(Some(words.clone())),
                };
                return self.command(command).await.map(Some);
            }
            Step::Screenshot => {
                let command = Command::Screenshot {
                    full: false,
                    jpeg: true,
                };
                return self.command(command).await.map(Some);
            }
        };
        Ok(None)
    }

    async fn command(&self, command: Command) -> Result<String, PromptError> {
        Ok(self.browser.command(&command, self.deadline).await?)
    }

    async fn open(&self, url: &str) -> Result<String, PromptError> {
        let mut url = url.to_owned();
        if url.starts_with('/') {
            let here = self.command(Command::Get(Property::Url)).await?;
            let whole = url::Url::parse(&here).and_then(|here| here.join(&url));
            url = whole.map_or(url, |whole| whole.into());
        }
        let command = Command::parse(&["open".to_owned(), url]).map_err(PromptError::Page)?;
        self.command(command).await
    }

    async fn act(&self, named: &ElementRef, purpose: ElementUse, act: Act) -> Result<String, PromptError> {
        let target = self.find(named, purpose).await?;
        self.command(Command::Act(target, act)).await
    }

    async fn fill(&self, text: &str, field: &ElementRef) -> Result<String, PromptError> {
        let target = self.find(field, ElementUse::Fill).await?;
        let result = self
            .command(Command::Act(target.clone(), Act::Fill(text.to_owned())))
            .await;
        match result {
            // `set Color to Blue`: the field may be a list of options.
            Err(PromptError::Page(why)) => {
                let chosen = Command::Act(target, Act::Select(vec![text.to_owned()]));
                self.command(chosen).await.map_err(|_| PromptError::Page(why))
            }
            other => other,
        }
    }

    /// Returns the search box, or the first field if there is none.
    async fn search_field(&self) -> Result<Target, PromptError> {
        let field = |name: &str| ElementRef {
            name: name.to_owned(),
            hint: Some(Hint::Field),
            nth: None,
        };
        match self.find_once(&field("search"), ElementUse::Fill).await? {
            Some(target) => Ok(target),
            None => self.find(&field(""), ElementUse::Fill).await,
        }
    }

    async fn select(&self, option: &str, list: Option<&ElementRef>) -> Result<String, PromptError> {
        let choice = Act::Select(vec![option.to_owned()]);
        if let Some(list) = list
            && let Some(found) = self.find_once(list, ElementUse::Select).await?
        {
            match self.command(Command::Act(found, choice.clone())).await {
                // A custom list has to be opened first.
                Err(PromptError::Page(why)) if why.contains("click it") => {}
                other => return other,
            }
        }
        if let Some(list) = list {
            self.act(list, ElementUse::Click, Act::Click).await?;
        }
        let wanted = ElementRef {
            name: option.to_owned(),
            hint: Some(Hint::Option),
            nth: None,
        };
        let found = self.find(&wanted, ElementUse::Click).await?;
        match self.command(Command::Act(found.clone(), choice)).await {
            Err(PromptError::Page(_)) => self.command(Command::Act(found, Act::Click)).await,
            other => other,
        }
    }

    async fn scroll(&self, way: &Scroll) -> Result<String, PromptError> {
        let script = match way {
            Scroll::Pixels(x, y) => {
                let (direction, pixels) = match (x, y) {
                    (0, y) if *y < 0 => (Direction::Up, y),
                    (0, y) => (Direction::Down, y),
                    (x, _) if *x < 0 => (Direction::Left, x),
                    (x, _) => (Direction::Right, x),
                };
                let pixels = u32::try_from(pixels.unsigned_abs()).unwrap_or(u32::MAX);
                let command = Command::Scroll {
                    direction,
                    pixels,
                    target: None,
                };
                return self.command(command).await;
            }
            Scroll::To(named) => return self.act(named, ElementUse::Read, Act::ScrollIntoView).await,
            Scroll::Windows(count) => format!("scrollBy(0, {count} * innerHeight)"),
            Scroll::Top => "scrollTo(0, 0)".to_owned(),
            Scroll::Bottom => "scrollTo(0, document.scrollingElement.scrollHeight)".to_owned(),
        };
        self.command(Command::Eval(script)).await
    }

    async fn wait(&self, until: WaitCondition) -> Result<String, PromptError> {
        self.command(Command::Wait { until, timeout: None }).await
    }

    /// Finds the element that a step names, waiting up to [`limits::STEP_ELEMENT_TIMEOUT`] for it to appear.
    async fn find(&self, named: &ElementRef, purpose: ElementUse) -> Result<Target, PromptError> {
        let end = self.deadline.min(Instant::now() + limits::STEP_ELEMENT_TIMEOUT);
        loop {
            if let Some(found) = self.find_once(named, purpose).await? {
                return Ok(found);
            }
            if Instant::now() >= end {
                break;
            }
            tokio::time::sleep_until(end.min(Instant::now() + limits::STEP_POLL)).await;
        }
        // An element without a role of its own may still be clickable.
        if matches!(purpose, ElementUse::Click | ElementUse::Read) && !named.name.is_empty() {
            let text = find_text(&named.name);
            if self.command(Command::Get(Property::Count(text.clone()))).await? != "0" {
                return Ok(Target::Find(text));
            }
        }
        let what = match purpose {
            ElementUse::Fill => "no field",
            ElementUse::Select => "no list",
            ElementUse::Check => "no checkbox",
            ElementUse::Click | ElementUse::Read => "no element",
        };
        Err(PromptError::Page(format!(
            "{what} on the page is named `{}`",
            named.name
        )))
    }

    /// Looks once for an element by its accessible name.
    async fn find_once(
        &self,
        named: &ElementRef,
        purpose: ElementUse,
    ) -> Result<Option<Target>, PromptError> {
        let snapshot = self.browser.snapshot(false, self.deadline).await?;
        let elements = snapshot
            .elements
            .iter()
            .map(|element| (element.role.as_str(), element.name.as_str()));
        Ok(choose(elements, named, purpose).map(|at| Target::Reference(at + 1)))
    }
}
