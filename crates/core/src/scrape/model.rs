//! The formats that a language model makes of a page: what it is given, and what takes the place of its answer where
//! there is none. Asking it is the engine's business.

use serde_json::{Map, Value};

use super::passages::Text;
use super::summary;
use crate::api::format::{ChangeMode, Format, QueryMode};
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;
use crate::extract::Filled;

/// Why no model was asked, for the end of a sentence.
pub const NO_MODEL: &str = "no language model is configured on this server";

/// What a document leaves to a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ForModel {
    /// The page.
    pub markdown: String,
    /// What the page states for the schema of `json`.
    pub json: Option<Filled>,
    /// What the page states for the schema of `changeTracking`.
    pub tracked: Option<Filled>,
}

/// One answer that a model is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Part<'a> {
    /// The format `json`.
    Json {
        /// JSON Schema.
        schema: Option<&'a Map<String, Value>>,
        /// What to extract, in words.
        prompt: Option<&'a str>,
    },
    /// The data that `changeTracking` compares.
    Tracked {
        /// JSON Schema.
        schema: Option<&'a Map<String, Value>>,
        /// What to extract, in words.
        prompt: Option<&'a str>,
    },
    /// `summary`.
    Summary,
    /// `answer`, of the formats `question` and `query`.
    Answer {
        /// What is asked.
        question: &'a str,
    },
}

/// The answers that the options want of a model, each once.
pub fn parts(options: &ScrapeOptions) -> Vec<Part<'_>> {
    fn part(format: &Format) -> Option<Part<'_>> {
        match format {
            Format::Json(json) => Some(Part::Json {
                schema: json.schema.as_ref(),
                prompt: json.prompt.as_deref(),
            }),
            Format::ChangeTracking(tracking) if tracking.modes.contains(&ChangeMode::Json) => {
                Some(Part::Tracked {
                    schema: tracking.schema.as_ref(),
                    prompt: tracking.prompt.as_deref(),
                })
            }
            Format::Summary => Some(Part::Summary),
            Format::Question { question } => Some(Part::Answer { question }),
            Format::Query {
                prompt,
                mode: QueryMode::Freeform,
            } => Some(Part::Answer { question: prompt }),
            _ => None,
        }
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    for part in options.formats.iter().filter_map(part) {
        // `question` and `query` share one answer: the first one's.
        let answered = matches!(part, Part::Answer { .. })
            && parts.iter().any(|known| matches!(known, Part::Answer { .. }));
        if !answered {
            parts.push(part);
        }
    }
    parts
}

impl ForModel {
    /// Fills one part without a model, and says so.
    pub fn without(&self, part: &Part<'_>, document: &mut Document, because: &str) {
        match part {
            Part::Json { .. } => {
                document.json = stated(self.json.as_ref(), "`json`", document, because);
            }
            Part::Tracked { .. } => {
                document.tracked = stated(
                    self.tracked.as_ref(),
                    "The data of `changeTracking`",
                    document,
                    because,
                );
            }
            Part::Summary => {
                let page = &document.metadata;
                let text = Text::of(&self.markdown);
                let summary = summary::summary(&text, page.title.as_deref(), page.description.as_deref());
                document.summary = Some(summary);
                document.warn(&format!(
                    "`summary` was put together from the page's own sentences, because {because}."
                ));
            }
            Part::Answer { .. } => document.warn(&format!("`answer` is missing, because {because}.")),
        }
    }
}

fn stated(filled: Option<&Filled>, subject: &str, document: &mut Document, because: &str) -> Option<Value> {
    match filled {
        Some(filled) => {
            document.warn(&filled.warning(subject, because));
            Some(filled.value.clone()).filter(|value| !value.is_null())
        }
        None => {
            document.warn(&format!(
                "{subject} is missing: it was asked for in words alone, and {because}."
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_is_asked_for_once() {
        let options = |formats: &str| {
            ScrapeOptions::from_json(format!(r#"{{"formats":{formats}}}"#).as_bytes()).unwrap()
        };
        let count = |formats: &str| parts(&options(formats)).len();
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
