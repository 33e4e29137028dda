//! Requests to the language model about pages: data that matches a schema, or a text. Pages are untrusted, so
//! they are marked as data and no tools are offered; a reply is used only if it is valid. Which pages are
//! sent and what an answer costs is decided elsewhere.

use harvestman_core::extract::{Schema, answer};
use serde_json::Value;
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Llm, LlmError, Message, ReplyFormat, mark_untrusted};

const DATA_INSTRUCTIONS: &str = include_str!("model_answers/data.txt");
const CLEAN_INSTRUCTIONS: &str = include_str!("model_answers/clean.txt");
const TEXT_INSTRUCTIONS: &str = include_str!("model_answers/text.txt");

/// The data to extract.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataRequest<'a> {
    pub(crate) schema: Option<&'a Schema>,
    /// What to extract, in the user's words.
    pub(crate) prompt: Option<&'a str>,
    /// The user's additional instructions.
    pub(crate) system: Option<&'a str>,
    /// The data that the page itself states for the schema.
    pub(crate) page_facts: Option<&'a Value>,
}

/// A valid answer of the model.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ExtractedData {
    pub(crate) value: Value,
    /// Warnings for the client.
    pub(crate) warnings: Vec<String>,
}

/// Why the model gave no usable answer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum AnswerError {
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
pub(crate) async fn extract_data(
    llm: &Llm,
    request: DataRequest<'_>,
    page: &str,
    deadline: Instant,
) -> Result<ExtractedData, AnswerError> {
    let mut warnings = Vec::new();
    let mut messages = vec![
        Message::System(DATA_INSTRUCTIONS.trim_end().to_owned()),
        Message::User(task(request, &truncate(page, &mut warnings))),
    ];
    let format = match request.schema {
        Some(schema) => ReplyFormat::Schema("answer", schema.root()),
        None => ReplyFormat::Object,
    };
    for may_repair in [true, false] {
        let (reply, _) = llm.reply(&messages, format, deadline).await?;
        let problems = match answer::parse(
            reply.text.as_deref().unwrap_or_default(),
            request.schema,
            request.page_facts,
        ) {
            Ok(parsed) => return Ok(into_data(parsed, request, warnings)),
            Err(problems) if may_repair => problems,
            Err(problems) => {
                let words = reply.text.filter(|text| !text.trim().is_empty());
                // Without a schema, words are an answer too.
                return match words.filter(|_| request.schema.is_none()) {
                    Some(words) => {
                        warnings.push("The language model answered in words.".to_owned());
                        let value = Value::String(words.trim().to_owned());
                        Ok(ExtractedData { value, warnings })
                    }
                    None => Err(AnswerError::Invalid(problems)),
                };
            }
        };
        // Tool calls get no reply because no tools were offered; endpoints reject messages without content.
        if let Some(text) = reply.text {
            messages.push(Message::assistant(text));
        }
        messages.push(Message::User(format!(
            "This answer is not valid: {}\nAnswer again, with the corrected JSON alone.",
            problems.join(" ")
        )));
    }
    Err(AnswerError::Invalid(Vec::new()))
}

fn into_data(
    parsed: answer::ValidResponse,
    request: DataRequest<'_>,
    mut warnings: Vec<String>,
) -> ExtractedData {
    if !parsed.removed.is_empty() {
        warnings.push(format!(
            "Fields that are not in the schema were removed from the language model's answer: {}.",
            parsed.removed.join(", ")
        ));
    }
    if let Some(schema) = request.schema
        && !schema.unchecked().is_empty()
    {
        warnings.push(format!(
            "The answer was not validated against these schema keywords: {}.",
            schema.unchecked().join(", ")
        ));
    }
    ExtractedData {
        value: parsed.value,
        warnings,
    }
}

fn task(request: DataRequest<'_>, page: &str) -> String {
    let mut task = String::from("Task: ");
    task.push_str(request.prompt.unwrap_or("Extract what the schema asks for."));
    if let Some(system) = request.system {
        task.push_str(&format!("\n\nInstructions from the user: {system}"));
    }
    if let Some(schema) = request.schema {
        task.push_str(&format!("\n\nJSON Schema of the answer:\n{}", schema.root()));
    }
    task.push_str(&format!("\n\n{}", mark_untrusted(page)));
    if let Some(page_facts) = request.page_facts.filter(|page_facts| !page_facts.is_null()) {
        let page_facts = page_facts.to_string();
        if page_facts.len() <= limits::MODEL_FACTS_BYTES {
            task.push_str(&format!(
                "\n\nStructured data of the page, just as untrusted:\n{}",
                mark_untrusted(&page_facts)
            ));
        }
    }
    task
}

/// Returns a text about a page and the warnings for the client.
///
/// # Errors
/// If the request fails or the reply is empty.
pub(crate) async fn answer_text(
    llm: &Llm,
    task: &str,
    page: &str,
    deadline: Instant,
) -> Result<(String, Vec<String>), AnswerError> {
    let mut warnings = Vec::new();
    let page = mark_untrusted(&truncate(page, &mut warnings));
    let messages = [
        Message::System(TEXT_INSTRUCTIONS.trim_end().to_owned()),
        Message::User(format!("Task: {task}\n\n{page}")),
    ];
    let (reply, _) = llm.reply(&messages, ReplyFormat::Text, deadline).await?;
    match reply.text.map(|text| text.trim().to_owned()) {
        Some(text) => Ok((text, warnings)),
        None => Err(AnswerError::Invalid(vec!["The answer is empty.".to_owned()])),
    }
}

/// Returns the page as the model cleaned it, and the warnings for the client. The reply is not checked. If the page
/// is too long for the model, its end is returned unchanged.
///
/// # Errors
/// If the request fails, or the reply is empty or cut off.
pub(crate) async fn clean_text(
    llm: &Llm,
    page: &str,
    deadline: Instant,
) -> Result<(String, Vec<String>), AnswerError> {
    let mut warnings = Vec::new();
    let start = truncate(page, &mut warnings);
    let messages = [
        Message::System(CLEAN_INSTRUCTIONS.trim_end().to_owned()),
        Message::User(mark_untrusted(&start)),
    ];
    let (reply, _) = llm.reply(&messages, ReplyFormat::Text, deadline).await?;
    match reply.text {
        _ if reply.is_cut_off => Err(AnswerError::Invalid(vec!["The answer is cut off.".to_owned()])),
        Some(text) => Ok((format!("{text}\n{}", &page[start.len()..]), warnings)),
        None => Err(AnswerError::Invalid(vec!["The answer is empty.".to_owned()])),
    }
}

/// Cuts a page at the end of a line to the size that the model gets.
fn truncate(page: &str, warnings: &mut Vec<String>) -> String {
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
