//! Finds the element that a command acts on: a reference of the last snapshot, or a match on the page.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::error::CommandError;
use super::run::CommandRunner;
use super::state::References;
use super::{By, Find, Target};
use crate::element::Element;
use crate::error::BrowserError;
use crate::limits;
use crate::page::World;
use crate::snapshot::Snapshot;

/// Finds elements in the page.
const FIND: &str = include_str!("find.js");

impl CommandRunner<'_> {
    /// Returns the element; waits up to [`limits::ELEMENT_TIMEOUT`] for it to appear, unless it is a
    /// reference.
    pub(super) async fn locate(&self, target: &Target) -> Result<Element, CommandError> {
        let end = self.deadline.min(Instant::now() + limits::ELEMENT_TIMEOUT);
        loop {
            if let Some(element) = self.locate_once(target).await? {
                return Ok(element);
            }
            if Instant::now() >= end {
                return Err(CommandError::failed(format!(
                    "no element on the page matches {}",
                    self.state.describe(target)
                )));
            }
            tokio::time::sleep_until(end.min(Instant::now() + limits::POLL)).await;
        }
    }

    /// Looks for the element once.
    pub(super) async fn locate_once(&self, target: &Target) -> Result<Option<Element>, CommandError> {
        let found = match target {
            Target::Reference(number) => return self.by_reference(*number).await.map(Some),
            Target::Find(find) if find.by == By::Role => {
                let (references, matching) = self.by_role(find).await?;
                let Some(at) = nth(&matching, find.nth) else {
                    return Ok(None);
                };
                let found = &references.elements[at];
                Element::from_node(&references.frames, found.frame, found.node, self.deadline)
                    .await
                    .map(Some)
            }
            Target::Find(find) => {
                let arguments = find_arguments(find, Some(find.nth));
                Element::from_function(self.page, FIND, arguments, self.deadline).await
            }
        };
        match found {
            Ok(found) => Ok(found),
            Err(BrowserError::Refused { reason, .. })
                if reason.contains("SyntaxError") || reason.contains("not a valid") =>
            {
                let name = self.state.describe(target);
                Err(CommandError::failed(format!("{name} is not a valid selector")))
            }
            // The document may be replaced by another at this moment.
            Err(BrowserError::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn by_reference(&self, number: usize) -> Result<Element, CommandError> {
        let stale = |why: &str| {
            CommandError::failed(format!(
                "@e{number} {why}; take a new snapshot for new references"
            ))
        };
        let Some(references) = self.state.references() else {
            return Err(stale("is unknown: no snapshot has been taken"));
        };
        let is_current =
            references.target == self.page.target() && references.document == self.page.state().loader;
        if !is_current {
            return Err(stale("refers to a page that is no longer open"));
        }
        let found = number.checked_sub(1).and_then(|at| references.elements.get(at));
        let Some(found) = found else {
            return Err(stale("is not in the last snapshot"));
        };
        let element = Element::from_node(&references.frames, found.frame, found.node, self.deadline).await;
        let gone = || stale("is no longer on the page");
        match element {
            Ok(element) => {
                let attached = element.call(include_str!("state.js"), json!(["attached"]), self.deadline);
                match attached.await {
                    Ok(Value::Bool(true)) => Ok(element),
                    Ok(_) | Err(BrowserError::Refused { .. }) => Err(gone()),
                    Err(error) => Err(error.into()),
                }
            }
            Err(BrowserError::Refused { .. }) => Err(gone()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a fresh snapshot of the page, and the indexes of its elements that match a role and name.
    async fn by_role(&self, find: &Find) -> Result<(References, Vec<usize>), CommandError> {
        let frames = &self.state.frames;
        let (frames, trees) = frames
            .with_trees(self.page, self.connection, self.deadline)
            .await?;
        let elements = Snapshot::of(&trees, false).elements;
        let is_match = |name: &str| match &find.name {
            None => true,
            Some(wanted) if find.exact => name == wanted,
            Some(wanted) => name.to_lowercase().contains(&wanted.to_lowercase()),
        };
        let matching = elements
            .iter()
            .enumerate()
            .filter(|(_, element)| element.role.eq_ignore_ascii_case(&find.words) && is_match(&element.name))
            .map(|(at, _)| at)
            .collect();
        let references = References {
            target: String::new(),
            document: String::new(),
            frames,
            elements,
        };
        Ok((references, matching))
    }

    /// Returns the number of matching elements.
    pub(super) async fn count(&self, find: &Find) -> Result<u64, CommandError> {
        if find.by == By::Role {
            return Ok(self.by_role(find).await?.1.len() as u64);
        }
        let script = format!("({FIND})(...{})", find_arguments(find, None));
        let found = self
            .page
            .evaluate(&script, World::Isolated, self.deadline)
            .await?;
        Ok(found.as_u64().unwrap_or(0))
    }
}

/// Returns the arguments for `find.js`.
fn find_arguments(find: &Find, nth: Option<i32>) -> Value {
    let by = match find.by {
        By::Css => "css",
        By::XPath => "xpath",
        By::Text => "text",
        By::Label => "label",
        By::Placeholder => "placeholder",
        By::Alt => "alt",
        By::Title => "title",
        By::TestId => "testid",
        By::Role => "role",
    };
    json!([by, find.words, find.exact, nth])
}

fn nth(indexes: &[usize], nth: i32) -> Option<usize> {
    match usize::try_from(nth) {
        Ok(nth) => indexes.get(nth).copied(),
        Err(_) => indexes
            .len()
            .checked_sub(nth.unsigned_abs() as usize)
            .map(|at| indexes[at]),
    }
}
