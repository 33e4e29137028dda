//! Questions to the language model about pages: data after a schema, or words. Pages are data: they are marked, no tool
//! is offered, and what comes back counts only when it is valid. Which pages, and what an answer costs, is decided
//! elsewhere.

use harvestman_core::extract::{Schema, answer};
use serde_json::Value;
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Form, Llm, LlmError, Message, marked};

const FOR_DATA: &str = include_str!("ask/data.txt");
const FOR_WORDS: &str = include_str!("ask/words.txt");

/// What data is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) schema: Option<&'a Schema>,
    /// What to extract, in the caller's words.
    pub(crate) prompt: Option<&'a str>,
    /// The caller's instructions beside it.
    pub(crate) system: Option<&'a str>,
    /// What the page states by itself for the schema.
    pub(crate) stated: Option<&'a Value>,
}

/// A valid answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Data {
    pub(crate) value: Value,
    /// Sentences for the caller.
    pub(crate) warnings: Vec<String>,
}

/// Why there is no answer that counts.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// There is none.
    #[error("{0}")]
    Model(#[from] LlmError),
    /// There is one that is not valid, also when asked again.
    #[error("the language model gave no valid answer: {}", .0.join(" "))]
    Invalid(Vec<String>),
}

/// Asks for data from a page. What is not valid is told to the model once; what it leaves open is filled from what the
/// page states.
pub(crate) async fn data(
    llm: &Llm,
    wanted: Wanted<'_>,
    page: &str,
    deadline: Instant,
) -> Result<Data, NoAnswer> {
    let mut warnings = Vec::new();
    let mut messages = vec![
        Message::System(FOR_DATA.trim_end().to_owned()),
        Message::User(task(wanted, &cut(page, &mut warnings))),
    ];
    let form = match wanted.schema {
        Some(schema) => Form::Schema("answer", schema.root()),
        None => Form::Object,
    };
    for repair in [true, false] {
        let (reply, _) = llm.answer(&messages, form, deadline).await?;
        let complaints = match answer::read(
            reply.text.as_deref().unwrap_or_default(),
            wanted.schema,
            wanted.stated,
        ) {
            Ok(read) => return Ok(finished(read, wanted, warnings)),
            Err(complaints) if repair => complaints,
            Err(complaints) => return Err(NoAnswer::Invalid(complaints)),
        };
        // Calls were not offered, so none is answered; an endpoint takes no message that says nothing.
        if let Some(text) = reply.text {
            messages.push(Message::said(text));
        }
        messages.push(Message::User(format!(
            "This answer is not valid: {}\nAnswer again, with the corrected JSON alone.",
            complaints.join(" ")
        )));
    }
    Err(NoAnswer::Invalid(Vec::new()))
}

fn finished(read: answer::Answer, wanted: Wanted<'_>, mut warnings: Vec<String>) -> Data {
    if !read.left_out.is_empty() {
        warnings.push(format!(
            "The language model also gave what the schema does not have; it was left out: {}.",
            read.left_out.join(", ")
        ));
    }
    if let Some(schema) = wanted.schema
        && !schema.unchecked().is_empty()
    {
        warnings.push(format!(
            "The answer was not checked against: {}.",
            schema.unchecked().join(", ")
        ));
    }
    Data {
        value: read.value,
        warnings,
    }
}

fn task(wanted: Wanted<'_>, page: &str) -> String {
    let mut task = String::from("Task: ");
    task.push_str(wanted.prompt.unwrap_or("Extract what the schema asks for."));
    if let Some(system) = wanted.system {
        task.push_str(&format!("\n\nInstructions of the user: {system}"));
    }
    if let Some(schema) = wanted.schema {
        task.push_str(&format!("\n\nJSON Schema of the answer:\n{}", schema.root()));
    }
    task.push_str(&format!("\n\n{}", marked(page)));
    if let Some(stated) = wanted.stated.filter(|stated| !stated.is_null()) {
        let stated = stated.to_string();
        if stated.len() <= limits::MODEL_STATED_BYTES {
            task.push_str(&format!(
                "\n\nRead from the structured data of the page, and as little to be trusted:\n{}",
                marked(&stated)
            ));
        }
    }
    task
}

/// Asks for words about a page.
pub(crate) async fn words(
    llm: &Llm,
    task: &str,
    page: &str,
    deadline: Instant,
) -> Result<(String, Vec<String>), NoAnswer> {
    let mut warnings = Vec::new();
    let page = marked(&cut(page, &mut warnings));
    let messages = [
        Message::System(FOR_WORDS.trim_end().to_owned()),
        Message::User(format!("Task: {task}\n\n{page}")),
    ];
    let (reply, _) = llm.answer(&messages, Form::Words, deadline).await?;
    match reply.text.map(|text| text.trim().to_owned()) {
        Some(text) => Ok((text, warnings)),
        None => Err(NoAnswer::Invalid(vec!["It says nothing.".to_owned()])),
    }
}

/// The beginning of a page, as much as a model is given of it, up to the end of a line.
fn cut(page: &str, warnings: &mut Vec<String>) -> String {
    if page.len() <= limits::MODEL_PAGE_BYTES {
        return page.to_owned();
    }
    let start = &page[..page.floor_char_boundary(limits::MODEL_PAGE_BYTES)];
    let start = start.rsplit_once('\n').map_or(start, |(lines, _)| lines);
    warnings.push(format!(
        "The page is long: the language model was given its first {} of {} KiB.",
        start.len() / 1024,
        page.len() / 1024
    ));
    start.to_owned()
}

#[cfg(test)]
mod tests;
