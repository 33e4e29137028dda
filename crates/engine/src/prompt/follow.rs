//! Executes plain steps one after the other. Elements are found by their accessible names.

use std::time::Duration;

use harvestman_browser::commands::{Act, Asked, Awaited, Command, Direction, Target};
use harvestman_core::interact::element::{ElementRef, ElementUse, Hint, choose};
use harvestman_core::interact::steps::{ReadTarget, Scroll, Step};
use tokio::time::Instant;

use super::tools::shown;
use super::{Failure, Work};
use crate::limits;

/// Submits the form of the focused field, or the first form, as Enter would.
const SUBMIT: &str = "{
    const form = document.activeElement?.form ?? document.querySelector('form');
    if (!form) throw new Error('the page has no form');
    form.requestSubmit();
}";

/// Executes steps until one fails.
pub(super) async fn run(work: &mut Work<'_>, steps: &[Step]) -> Result<(), Failure> {
    let mut told: Vec<String> = Vec::new();
    let mut ended = Ok(());
    for (at, step) in steps.iter().enumerate() {
        match work.step(step).await {
            Ok(None) => {}
            Ok(Some(text)) => told.push(text),
            Err(failure) => {
                ended = Err(match failure {
                    Failure::Page(why) => Failure::Page(format!("step {} ({step}): {why}", at + 1)),
                    other => other,
                });
                break;
            }
        }
    }
    work.outcome.output = match (told.is_empty(), &ended) {
        (false, _) => Some(told.join("\n")),
        (true, Ok(())) => Some(format!(
            "{} step{} completed",
            steps.len(),
            if steps.len() == 1 { "" } else { "s" }
        )),
        (true, Err(_)) => None,
    };
    ended
}

impl Work<'_> {
    /// Executes one step and returns the text that it reads, if any.
    async fn step(&mut self, step: &Step) -> Result<Option<String>, Failure> {
        if Instant::now() >= self.deadline {
            return Err(Failure::Timeout);
        }
        self.note(&step.to_string());
        match step {
            Step::Open(address) => self.open(address).await?,
            Step::Back => self.does(Command::Back).await?,
            Step::Forward => self.does(Command::Forward).await?,
            Step::Reload => self.does(Command::Reload).await?,
            Step::Click(named, times) => {
                let act = if *times == 2 { Act::DoubleClick } else { Act::Click };
                self.act(named, ElementUse::Click, act).await?
            }
            Step::Hover(named) => self.act(named, ElementUse::Click, Act::Hover).await?,
            Step::Type(text, None) => self.does(Command::Type(text.clone())).await?,
            Step::Type(text, Some(field)) => self.write(text, field).await?,
            Step::Search(text) => {
                let field = self.search_field().await?;
                self.does(Command::Act(field, Act::Fill(text.clone()))).await?;
                self.does(Command::Press("Enter".to_owned())).await?
            }
            Step::Press(key, times) => {
                for _ in 1..*times {
                    self.does(Command::Press(key.clone())).await?;
                }
                self.does(Command::Press(key.clone())).await?
            }
            Step::Select(option, list) => self.select(option, list.as_ref()).await?,
            Step::Check(named) => self.act(named, ElementUse::Check, Act::Check).await?,
            Step::Uncheck(named) => self.act(named, ElementUse::Check, Act::Uncheck).await?,
            Step::Submit => self.does(Command::Eval(SUBMIT.to_owned())).await?,
            Step::Scroll(way) => self.scroll(way).await?,
            Step::Wait(ms) => self.wait(Awaited::Time(Duration::from_millis(*ms))).await?,
            Step::WaitFor(text) => self.wait(Awaited::Visible(Target::Find(shown(text)))).await?,
            Step::WaitForPage => self.wait(Awaited::Rest).await?,
            Step::Read(told) => {
                let command = match told {
                    ReadTarget::Page => Command::Read(None),
                    ReadTarget::Title => Command::Get(Asked::Title),
                    ReadTarget::Url => Command::Get(Asked::Url),
                    ReadTarget::Words(words) => Command::Read(Some(words.clone())),
                };
                return self.does(command).await.map(Some);
            }
            Step::Screenshot => {
                let command = Command::Screenshot {
                    full: false,
                    jpeg: true,
                };
                return self.does(command).await.map(Some);
            }
        };
        Ok(None)
    }

    async fn does(&self, command: Command) -> Result<String, Failure> {
        Ok(self.browser.command(&command, self.deadline).await?)
    }

    async fn open(&self, address: &str) -> Result<String, Failure> {
        let mut address = address.to_owned();
        if address.starts_with('/') {
            let here = self.does(Command::Get(Asked::Url)).await?;
            let whole = url::Url::parse(&here).and_then(|here| here.join(&address));
            address = whole.map_or(address, |whole| whole.into());
        }
        let command = Command::parse(&["open".to_owned(), address]).map_err(Failure::Page)?;
        self.does(command).await
    }

    async fn act(&self, named: &ElementRef, purpose: ElementUse, act: Act) -> Result<String, Failure> {
        let target = self.find(named, purpose).await?;
        self.does(Command::Act(target, act)).await
    }

    async fn write(&self, text: &str, field: &ElementRef) -> Result<String, Failure> {
        let target = self.find(field, ElementUse::Fill).await?;
        let written = self
            .does(Command::Act(target.clone(), Act::Fill(text.to_owned())))
            .await;
        match written {
            // `set Color to Blue`: the field may be a list of options.
            Err(Failure::Page(why)) => {
                let chosen = Command::Act(target, Act::Select(vec![text.to_owned()]));
                self.does(chosen).await.map_err(|_| Failure::Page(why))
            }
            other => other,
        }
    }

    /// Returns the search box; if no field is named so, the first field.
    async fn search_field(&self) -> Result<Target, Failure> {
        let field = |name: &str| ElementRef {
            name: name.to_owned(),
            hint: Some(Hint::Field),
            nth: None,
        };
        match self.look(&field("search"), ElementUse::Fill).await? {
            Some(target) => Ok(target),
            None => self.find(&field(""), ElementUse::Fill).await,
        }
    }

    async fn select(&self, option: &str, list: Option<&ElementRef>) -> Result<String, Failure> {
        let choice = Act::Select(vec![option.to_owned()]);
        if let Some(list) = list
            && let Some(found) = self.look(list, ElementUse::Select).await?
        {
            match self.does(Command::Act(found, choice.clone())).await {
                // A custom list has to be opened first.
                Err(Failure::Page(why)) if why.contains("click it") => {}
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
        match self.does(Command::Act(found.clone(), choice)).await {
            Err(Failure::Page(_)) => self.does(Command::Act(found, Act::Click)).await,
            other => other,
        }
    }

    async fn scroll(&self, way: &Scroll) -> Result<String, Failure> {
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
                return self.does(command).await;
            }
            Scroll::To(named) => return self.act(named, ElementUse::Read, Act::ScrollIntoView).await,
            Scroll::Windows(count) => format!("scrollBy(0, {count} * innerHeight)"),
            Scroll::Top => "scrollTo(0, 0)".to_owned(),
            Scroll::Bottom => "scrollTo(0, document.scrollingElement.scrollHeight)".to_owned(),
        };
        self.does(Command::Eval(script)).await
    }

    async fn wait(&self, until: Awaited) -> Result<String, Failure> {
        self.does(Command::Wait { until, timeout: None }).await
    }

    /// Finds the element that a step names, waiting up to [`limits::STEP_PATIENCE`] for it to appear.
    async fn find(&self, named: &ElementRef, purpose: ElementUse) -> Result<Target, Failure> {
        let end = self.deadline.min(Instant::now() + limits::STEP_PATIENCE);
        loop {
            if let Some(found) = self.look(named, purpose).await? {
                return Ok(found);
            }
            if Instant::now() >= end {
                break;
            }
            tokio::time::sleep_until(end.min(Instant::now() + limits::STEP_POLL)).await;
        }
        // An element without a role of its own may still be clickable.
        if matches!(purpose, ElementUse::Click | ElementUse::Read) && !named.name.is_empty() {
            let shown = shown(&named.name);
            if self.does(Command::Get(Asked::Count(shown.clone()))).await? != "0" {
                return Ok(Target::Find(shown));
            }
        }
        let what = match purpose {
            ElementUse::Fill => "no field",
            ElementUse::Select => "no list",
            ElementUse::Check => "no checkbox",
            ElementUse::Click | ElementUse::Read => "no element",
        };
        Err(Failure::Page(format!(
            "{what} on the page is named `{}`",
            named.name
        )))
    }

    /// Looks once for an element by its accessible name.
    async fn look(&self, named: &ElementRef, purpose: ElementUse) -> Result<Option<Target>, Failure> {
        let snapshot = self.browser.snapshot(false, self.deadline).await?;
        let elements = snapshot
            .elements
            .iter()
            .map(|element| (element.role.as_str(), element.name.as_str()));
        Ok(choose(elements, named, purpose).map(|at| Target::Reference(at + 1)))
    }
}
