//! `redactPII` of a page: the rules of the core, and the names that the language model finds. A text goes to the
//! model only after the rules were applied, and a name counts only if the text contains it.

use std::sync::LazyLock;

use harvestman_core::pii::{Names, Redactor};
use harvestman_core::scrape::RenderedPage;
use harvestman_core::scrape::model::NO_MODEL;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Llm, LlmError, Message, ReplyFormat, mark_untrusted};

const INSTRUCTIONS: &str = include_str!("redaction/names.txt");

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let names = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {"people": names, "places": names},
        "required": ["people", "places"],
        "additionalProperties": false,
    })
});

/// Adds the names that the model finds in a page to the redactor; without a model, or if it fails, adds a warning.
pub(crate) async fn find_names(
    llm: Option<&Llm>,
    redactor: &mut Redactor,
    rendered: &mut RenderedPage,
    deadline: Instant,
) {
    let document = &mut rendered.document;
    let Some(llm) = llm.filter(|_| redactor.searches_with_model()) else {
        redactor.warn_of_unsearched(document, NO_MODEL);
        return;
    };
    let about = [&document.metadata.title, &document.metadata.description];
    let mut text: String = about
        .into_iter()
        .flatten()
        .map(|text| format!("{text}\n"))
        .collect();
    text.push_str(&rendered.model_input.markdown);
    let mut rest = text.as_str();
    let mut names = Names::default();
    for _ in 0..limits::REDACTION_REQUESTS {
        if rest.trim().is_empty() {
            break;
        }
        let part = first_part(rest);
        rest = &rest[part.len()..];
        match names_in(llm, part, deadline).await {
            Ok(found) => {
                names.people.extend(found.people);
                names.places.extend(found.places);
            }
            Err(error) => {
                tracing::warn!(%error, "cannot search a page for names with the language model");
                redactor.warn_of_unsearched(document, &error.to_string());
                break;
            }
        }
    }
    if !rest.trim().is_empty() {
        let searched = (text.len() - rest.len()) / 1024;
        document.warn(&format!(
            "`redactPII` searched only the first {searched} of {} KiB of the page for names.",
            text.len() / 1024
        ));
    }
    redactor.add_names(&names);
}

/// Returns the part of a text that one request has room for, up to the end of a line.
fn first_part(text: &str) -> &str {
    if text.len() <= limits::MODEL_PAGE_BYTES {
        return text;
    }
    let part = &text[..text.floor_char_boundary(limits::MODEL_PAGE_BYTES)];
    part.rfind('\n').map_or(part, |end| &part[..=end])
}

async fn names_in(llm: &Llm, text: &str, deadline: Instant) -> Result<Names, LlmError> {
    let messages = [
        Message::System(INSTRUCTIONS.trim_end().to_owned()),
        Message::User(mark_untrusted(text)),
    ];
    let reply = llm
        .chat_json(&messages, ReplyFormat::Schema("names", &SCHEMA), deadline)
        .await?;
    let list = |key: &str| -> Vec<String> {
        let items = reply.value[key].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Ok(Names {
        people: list("people"),
        places: list("places"),
    })
}
