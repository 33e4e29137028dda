//! The formats of a page that a language model produces. Where the model gives no valid answer, falls back to
//! what the page states, adds a warning, and takes the price of the model off.

use futures_util::future::join_all;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::billing;
use harvestman_core::extract::{Filled, Schema};
use harvestman_core::scrape::Rendered;
use harvestman_core::scrape::model::{ForModel, Part, parts};
use serde_json::Value;
use tokio::time::Instant;

use crate::ask::{self, Data, NoAnswer, Wanted};
use crate::llm::Llm;

const SUMMARY: &str = "Summarize the page in two to four sentences.";
/// What is compared if the client does not say.
const TRACKED: &str = "Extract the main data of the page.";
/// Reason for not asking the model about an error page.
const NO_PAGE: &str = "the target returned an error";

/// What the model produced for one format.
enum Made {
    Data(Data),
    Words(String, Vec<String>),
}

/// Fills the formats that need the model, within the deadline.
pub(crate) async fn fill(llm: &Llm, rendered: &mut Rendered, options: &ScrapeOptions, deadline: Instant) {
    let parts = parts(options);
    if parts.is_empty() {
        return;
    }
    let is_page = rendered
        .document
        .metadata
        .status_code
        .is_none_or(|status| status < 400);
    let made: Vec<Result<Made, String>> = match is_page {
        true => {
            let asked = parts
                .iter()
                .map(|part| make(llm, part, &rendered.for_model, deadline));
            let made = join_all(asked).await.into_iter();
            made.map(|made| made.map_err(|error| error.to_string())).collect()
        }
        false => parts.iter().map(|_| Err(NO_PAGE.to_owned())).collect(),
    };
    if made.iter().all(Result::is_err) {
        rendered.credits = billing::without_model(rendered.credits);
        rendered.document.metadata.credits_used = Some(rendered.credits);
    }
    for (part, made) in parts.iter().zip(made) {
        let document = &mut rendered.document;
        let warnings = match made {
            Ok(Made::Data(data)) => {
                match part {
                    Part::Tracked { .. } => document.tracked = Some(data.value),
                    _ => document.json = Some(data.value),
                }
                data.warnings
            }
            Ok(Made::Words(words, warnings)) => {
                match part {
                    Part::Summary => document.summary = Some(words),
                    _ => document.answer = Some(words),
                }
                warnings
            }
            Err(why) => {
                tracing::warn!(%why, "cannot produce a format with the language model; using what the page states");
                rendered
                    .for_model
                    .without(part, document, why.trim_end_matches('.'));
                continue;
            }
        };
        for warning in &warnings {
            document.warn(warning);
        }
    }
}

async fn make(llm: &Llm, part: &Part<'_>, page: &ForModel, deadline: Instant) -> Result<Made, NoAnswer> {
    let data = async |schema: &Option<&serde_json::Map<String, Value>>,
                      prompt: Option<&str>,
                      stated: Option<&Filled>| {
        let schema = schema.map(|schema| Schema::new(schema.clone()));
        let wanted = Wanted {
            schema: schema.as_ref(),
            prompt,
            system: None,
            stated: stated.map(|filled| &filled.value),
        };
        ask::data(llm, wanted, &page.markdown, deadline)
            .await
            .map(Made::Data)
    };
    let words = async |task: &str| {
        let (text, warnings) = ask::words(llm, task, &page.markdown, deadline).await?;
        Ok(Made::Words(text, warnings))
    };
    match part {
        Part::Json { schema, prompt } => data(schema, *prompt, page.json.as_ref()).await,
        Part::Tracked { schema, prompt } => {
            let prompt = prompt.or(schema.is_none().then_some(TRACKED));
            data(schema, prompt, page.tracked.as_ref()).await
        }
        Part::Summary => words(SUMMARY).await,
        Part::Answer { question } => words(question).await,
    }
}
