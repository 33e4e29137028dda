//! Requests to the language model about pages: data that matches a schema, or a text. Pages are untrusted, so
//! they are marked as data and no tools are offered; a reply is used only if it is valid. Which pages are
//! sent and what an answer costs is decided elsewhere.

use harvestman_core::extract::{Schema, answer};
use serde_json::Value;
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Form, Llm, LlmError, Message, marked};

const FOR_DATA: &str = include_str!("ask/data.txt");
const FOR_WORDS: &str = include_str!("ask/words.txt");

/// The data to extract.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) schema: Option<&'a Schema>,
    /// What to extract, in the user's words.
    pub(crate) prompt: Option<&'a str>,
    /// The user's additional instructions.
    pub(crate) system: Option<&'a str>,
    /// The data that the page itself states for the schema.
    pub(crate) stated: Option<&'a Value>,
}

/// A valid answer of the model.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Data {
    pub(crate) value: Value,
    /// Warnings for the client.
    pub(crate) warnings: Vec<String>,
}

/// Why the model gave no usable answer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// The request to the model failed.
    #[error("{0}")]
    Model(#[from] LlmError),
    /// The answer was invalid, and so was the corrected one.
    #[error("the language model returned no valid answer: {}", .0.join(" "))]
    Invalid(Vec<String>),
}

/// Extracts data from a page. An invalid answer is returned to the model once for correction; fields that the
/// model leaves open are filled from the facts of the page.
///
/// # Errors
/// If the request fails or the corrected answer is invalid too.
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
        let complaints = match answer::parse(
            reply.text.as_deref().unwrap_or_default(),
            wanted.schema,
            wanted.stated,
        ) {
            Ok(parsed) => return Ok(finished(parsed, wanted, warnings)),
            Err(complaints) if repair => complaints,
            Err(complaints) => return Err(NoAnswer::Invalid(complaints)),
        };
        // Tool calls get no reply because no tools were offered; endpoints reject messages without content.
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

fn finished(parsed: answer::ValidAnswer, wanted: Wanted<'_>, mut warnings: Vec<String>) -> Data {
    if !parsed.removed.is_empty() {
        warnings.push(format!(
            "Fields that are not in the schema were removed from the language model's answer: {}.",
            parsed.removed.join(", ")
        ));
    }
    if let Some(schema) = wanted.schema
        && !schema.unchecked().is_empty()
    {
        warnings.push(format!(
            "The answer was not validated against these schema keywords: {}.",
            schema.unchecked().join(", ")
        ));
    }
    Data {
        value: parsed.value,
        warnings,
    }
}

fn task(wanted: Wanted<'_>, page: &str) -> String {
    let mut task = String::from("Task: ");
    task.push_str(wanted.prompt.unwrap_or("Extract what the schema asks for."));
    if let Some(system) = wanted.system {
        task.push_str(&format!("\n\nInstructions from the user: {system}"));
    }
    if let Some(schema) = wanted.schema {
        task.push_str(&format!("\n\nJSON Schema of the answer:\n{}", schema.root()));
    }
    task.push_str(&format!("\n\n{}", marked(page)));
    if let Some(stated) = wanted.stated.filter(|stated| !stated.is_null()) {
        let stated = stated.to_string();
        if stated.len() <= limits::MODEL_STATED_BYTES {
            task.push_str(&format!(
                "\n\nStructured data of the page, just as untrusted:\n{}",
                marked(&stated)
            ));
        }
    }
    task
}

/// Returns a text about a page and the warnings for the client.
///
/// # Errors
/// If the request fails or the reply is empty.
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
        None => Err(NoAnswer::Invalid(vec!["The answer is empty.".to_owned()])),
    }
}

/// Cuts a page at the end of a line to the size that the model gets.
fn cut(page: &str, warnings: &mut Vec<String>) -> String {
    if page.len() <= limits::MODEL_PAGE_BYTES {
        return page.to_owned();
    }
    let start = &page[..page.floor_char_boundary(limits::MODEL_PAGE_BYTES)];
    let start = start.rsplit_once('\n').map_or(start, |(lines, _)| lines);
    warnings.push(format!(
        "The page is too long for the language model: only the first {} of {} KiB were sent.",
        start.len() / 1024,
        page.len() / 1024
    ));
    start.to_owned()
}

#[cfg(test)]
mod tests;
