//! The formats of a page that a language model produces. Where the model gives no valid answer, falls back to
//! what the page states, adds a warning, and takes the price of the model off.

use futures_util::future::join_all;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::billing;
use harvestman_core::extract::{FillResult, Schema};
use harvestman_core::scrape::Rendered;
use harvestman_core::scrape::model::{ModelInput, ModelTask, tasks};
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
    let tasks = tasks(options);
    if tasks.is_empty() {
        return;
    }
    let is_page = rendered
        .document
        .metadata
        .status_code
        .is_none_or(|status| status < 400);
    let made: Vec<Result<Made, String>> = match is_page {
        true => {
            let asked = tasks
                .iter()
                .map(|task| make(llm, task, &rendered.model_input, deadline));
            let made = join_all(asked).await.into_iter();
            made.map(|made| made.map_err(|error| error.to_string())).collect()
        }
        false => tasks.iter().map(|_| Err(NO_PAGE.to_owned())).collect(),
    };
    if made.iter().all(Result::is_err) {
        rendered.credits = billing::without_model(rendered.credits);
        rendered.document.metadata.credits_used = Some(rendered.credits);
    }
    for (task, made) in tasks.iter().zip(made) {
        let document = &mut rendered.document;
        let warnings = match made {
            Ok(Made::Data(data)) => {
                match task {
                    ModelTask::Tracked { .. } => document.tracked = Some(data.value),
                    _ => document.json = Some(data.value),
                }
                data.warnings
            }
            Ok(Made::Words(words, warnings)) => {
                match task {
                    ModelTask::Summary => document.summary = Some(words),
                    _ => document.answer = Some(words),
                }
                warnings
            }
            Err(why) => {
                tracing::warn!(%why, "cannot produce a format with the language model; using what the page states");
                rendered
                    .model_input
                    .fill_without_model(task, document, why.trim_end_matches('.'));
                continue;
            }
        };
        for warning in &warnings {
            document.warn(warning);
        }
    }
}

async fn make(
    llm: &Llm,
    task: &ModelTask<'_>,
    page: &ModelInput,
    deadline: Instant,
) -> Result<Made, NoAnswer> {
    let data = async |schema: &Option<&serde_json::Map<String, Value>>,
                      prompt: Option<&str>,
                      stated: Option<&FillResult>| {
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
    match task {
        ModelTask::Json { schema, prompt } => data(schema, *prompt, page.json.as_ref()).await,
        ModelTask::Tracked { schema, prompt } => {
            let prompt = prompt.or(schema.is_none().then_some(TRACKED));
            data(schema, prompt, page.tracked.as_ref()).await
        }
        ModelTask::Summary => words(SUMMARY).await,
        ModelTask::Answer { question } => words(question).await,
    }
}
