//! The formats that need a language model: the input of the model, and the fallback without one. Calling the model is
//! up to the engine.

use serde_json::{Map, Value};

use super::passages::Text;
use super::summary;
use crate::api::format::{ChangeMode, Format, FormatKind, QueryMode};
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;
use crate::extract::FillResult;
use crate::pii::Redactor;

/// Why no model was called, as the end of a sentence.
pub const NO_MODEL: &str = "no language model is configured";

/// The input of the model formats of a document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModelInput {
    /// Markdown of the page.
    pub markdown: String,
    /// Data stated on the page for the schema of `json`.
    pub json: Option<FillResult>,
    /// Data stated on the page for the schema of `changeTracking`.
    pub tracked: Option<FillResult>,
}

/// One result requested from a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ModelTask<'a> {
    /// The format `json`.
    Json {
        /// JSON Schema.
        schema: Option<&'a Map<String, Value>>,
        /// What to extract, as a prompt.
        prompt: Option<&'a str>,
    },
    /// The data that `changeTracking` compares.
    Tracked {
        /// JSON Schema.
        schema: Option<&'a Map<String, Value>>,
        /// What to extract, as a prompt.
        prompt: Option<&'a str>,
    },
    /// `summary`.
    Summary,
    /// `answer`, for the formats `question` and `query`.
    Answer {
        /// The question.
        question: &'a str,
    },
}

/// Returns the results that the options need from a model, each once.
pub fn tasks(options: &ScrapeOptions) -> Vec<ModelTask<'_>> {
    fn task(format: &Format) -> Option<ModelTask<'_>> {
        match format {
            Format::Json(json) => Some(ModelTask::Json {
                schema: json.schema.as_ref(),
                prompt: json.prompt.as_deref(),
            }),
            Format::ChangeTracking(tracking) if tracking.modes.contains(&ChangeMode::Json) => {
                Some(ModelTask::Tracked {
                    schema: tracking.schema.as_ref(),
                    prompt: tracking.prompt.as_deref(),
                })
            }
            Format::Summary => Some(ModelTask::Summary),
            Format::Question { question } => Some(ModelTask::Answer { question }),
            Format::Query {
                prompt,
                mode: QueryMode::Freeform,
            } => Some(ModelTask::Answer { question: prompt }),
            _ => None,
        }
    }
    let mut tasks: Vec<ModelTask<'_>> = Vec::new();
    for task in options.formats.iter().filter_map(task) {
        // `question` and `query` share one answer, which belongs to the first of them.
        let answered = matches!(task, ModelTask::Answer { .. })
            && tasks
                .iter()
                .any(|known| matches!(known, ModelTask::Answer { .. }));
        if !answered {
            tasks.push(task);
        }
    }
    tasks
}

/// Returns whether leftovers are removed from the Markdown of the page: the options ask for it, and something is made
/// from the Markdown.
pub fn cleans_markdown(options: &ScrapeOptions) -> bool {
    let of_markdown = [FormatKind::Markdown, FormatKind::Highlights, FormatKind::Query];
    let is_used = of_markdown.iter().any(|kind| options.wants(*kind)) || !tasks(options).is_empty();
    options.only_clean_content && is_used
}

/// Returns whether a model gets the Markdown of the page: for a format, to clean it, or to search it for names.
pub(super) fn needs_input(options: &ScrapeOptions) -> bool {
    let searches = options
        .redact_pii
        .as_ref()
        .is_some_and(|redaction| Redactor::new(redaction).searches_with_model());
    searches || cleans_markdown(options) || !tasks(options).is_empty()
}

impl ModelInput {
    /// Removes personal data.
    pub(super) fn redact(&mut self, redactor: &Redactor) {
        self.markdown = redactor.text(&self.markdown).into_owned();
        for filled in [&mut self.json, &mut self.tracked].into_iter().flatten() {
            redactor.json(&mut filled.value);
        }
    }

    /// Fills one result without a model and adds a warning.
    pub fn fill_without_model(&self, task: &ModelTask<'_>, document: &mut Document, because: &str) {
        match task {
            ModelTask::Json { .. } => {
                document.json = take_stated(self.json.as_ref(), "`json`", document, because);
            }
            ModelTask::Tracked { .. } => {
                document.tracked = take_stated(
                    self.tracked.as_ref(),
                    "The data of `changeTracking`",
                    document,
                    because,
                );
            }
            ModelTask::Summary => {
                let page = &document.metadata;
                let text = Text::of(&self.markdown);
                let summary = summary::summary(&text, page.title.as_deref(), page.description.as_deref());
                document.summary = Some(summary);
                document.warn(&format!(
                    "`summary` consists of sentences quoted from the page, because {because}."
                ));
            }
            ModelTask::Answer { .. } => document.warn(&format!("`answer` is missing, because {because}.")),
        }
    }
}

fn take_stated(
    filled: Option<&FillResult>,
    subject: &str,
    document: &mut Document,
    because: &str,
) -> Option<Value> {
    match filled {
        Some(filled) => {
            document.warn(&filled.warning(subject, because));
            Some(filled.value.clone()).filter(|value| !value.is_null())
        }
        None => {
            document.warn(&format!(
                "{subject} is missing: it has a prompt but no schema, and {because}."
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_result_is_requested_once() {
        let options = |formats: &str| {
            ScrapeOptions::from_json(format!(r#"{{"formats":{formats}}}"#).as_bytes()).unwrap()
        };
        let count = |formats: &str| tasks(&options(formats)).len();
        assert_eq!(
            count(r#"["markdown","links",{"type":"highlights","query":"x"}]"#),
            0
        );
        assert_eq!(count(r#"["summary",{"type":"json","prompt":"x"}]"#), 2);
        assert_eq!(
            count(r#"[{"type":"question","question":"a"},{"type":"query","prompt":"b"}]"#),
            1
        );
        assert_eq!(
            count(r#"["markdown",{"type":"changeTracking","modes":["git-diff"]}]"#),
            0
        );
        assert_eq!(
            count(r#"["markdown",{"type":"changeTracking","modes":["json"]}]"#),
            1
        );
    }
}
