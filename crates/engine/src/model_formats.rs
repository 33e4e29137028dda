//! The formats of a page that a language model produces. Where the model gives no valid answer, falls back to
//! what the page states, adds a warning, and does not charge for the model.

use futures_util::future::join_all;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::billing;
use harvestman_core::extract::{FillResult, Schema};
use harvestman_core::scrape::RenderedPage;
use harvestman_core::scrape::model::{ModelInput, ModelTask, cleans_markdown, tasks};
use serde_json::Value;
use tokio::time::Instant;

use crate::llm::Llm;
use crate::model_answers::{self, AnswerError, DataRequest, ExtractedData};

const SUMMARY_PROMPT: &str = "Summarize the page in two to four sentences.";
/// What to compare if the client does not say.
const TRACKING_PROMPT: &str = "Extract the main data of the page.";
/// Reason for not asking the model about an error page.
const ERROR_PAGE: &str = "the target returned an error";
/// Reason for not using the model's cleaned page.
const NOTHING_LEFT: &str = "the language model returned no line of the page";

/// What the model produced for one format.
enum ModelOutput {
    Data(ExtractedData),
    Text(String, Vec<String>),
}

/// Fills the formats that need the model, within the deadline.
pub(crate) async fn fill(llm: &Llm, rendered: &mut RenderedPage, options: &ScrapeOptions, deadline: Instant) {
    let tasks = tasks(options);
    let is_page = rendered
        .document
        .metadata
        .status_code
        .is_none_or(|status| status < 400);
    if cleans_markdown(options) {
        clean(llm, rendered, options, is_page, deadline).await;
    }
    if tasks.is_empty() {
        return;
    }
    let outputs: Vec<Result<ModelOutput, String>> = match is_page {
        true => {
            let requests = tasks
                .iter()
                .map(|task| produce(llm, task, &rendered.model_input, deadline));
            let outputs = join_all(requests).await.into_iter();
            outputs
                .map(|output| output.map_err(|error| error.to_string()))
                .collect()
        }
        false => tasks.iter().map(|_| Err(ERROR_PAGE.to_owned())).collect(),
    };
    if outputs.iter().all(Result::is_err) {
        rendered.credits = billing::without_model(rendered.credits);
        rendered.document.metadata.credits_used = Some(rendered.credits);
    }
    for (task, output) in tasks.iter().zip(outputs) {
        let document = &mut rendered.document;
        let warnings = match output {
            Ok(ModelOutput::Data(data)) => {
                match task {
                    ModelTask::Tracked { .. } => document.tracked = Some(data.value),
                    _ => document.json = Some(data.value),
                }
                data.warnings
            }
            Ok(ModelOutput::Text(text, warnings)) => {
                match task {
                    ModelTask::Summary => document.summary = Some(text),
                    _ => document.answer = Some(text),
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

/// Removes leftovers from the Markdown, on which the other formats are based.
async fn clean(
    llm: &Llm,
    rendered: &mut RenderedPage,
    options: &ScrapeOptions,
    is_page: bool,
    deadline: Instant,
) {
    let page = &rendered.model_input.markdown;
    let result = match is_page {
        _ if page.trim().is_empty() => return,
        true => model_answers::clean_text(llm, page, deadline)
            .await
            .map_err(|error| error.to_string()),
        false => Err(ERROR_PAGE.to_owned()),
    };
    let because = match result {
        Ok((text, warnings)) if rendered.replace_by_cleaned(&text, options) => {
            warnings
                .iter()
                .for_each(|warning| rendered.document.warn(warning));
            return;
        }
        Ok(_) => NOTHING_LEFT.to_owned(),
        Err(why) => why,
    };
    tracing::warn!(%because, "cannot clean a page with the language model; using the rules");
    rendered.cleaned_by_rules(because.trim_end_matches('.'));
}

async fn produce(
    llm: &Llm,
    task: &ModelTask<'_>,
    page: &ModelInput,
    deadline: Instant,
) -> Result<ModelOutput, AnswerError> {
    let data = async |schema: &Option<&serde_json::Map<String, Value>>,
                      prompt: Option<&str>,
                      page_facts: Option<&FillResult>| {
        let schema = schema.map(|schema| Schema::new(schema.clone()));
        let request = DataRequest {
            schema: schema.as_ref(),
            prompt,
            system: None,
            page_facts: page_facts.map(|filled| &filled.value),
        };
        model_answers::extract_data(llm, request, &page.markdown, deadline)
            .await
            .map(ModelOutput::Data)
    };
    let text = async |task: &str| {
        let (text, warnings) = model_answers::answer_text(llm, task, &page.markdown, deadline).await?;
        Ok(ModelOutput::Text(text, warnings))
    };
    match task {
        ModelTask::Json { schema, prompt } => data(schema, *prompt, page.json.as_ref()).await,
        ModelTask::Tracked { schema, prompt } => {
            let prompt = prompt.or(schema.is_none().then_some(TRACKING_PROMPT));
            data(schema, prompt, page.tracked.as_ref()).await
        }
        ModelTask::Summary => text(SUMMARY_PROMPT).await,
        ModelTask::Answer { question } => text(question).await,
    }
}
