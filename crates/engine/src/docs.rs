//! Answers questions about the documentation: with its best passages, or with a language model that reads these
//! passages. The model's answer is used only if it cites them; otherwise the passages are returned.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::support::{DocsResponse, DocsSearchRequest, Evidence, ModelUsage};
use harvestman_core::docs::{self, Docs, SearchHit};
use harvestman_store::Principal;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::context::Engine;
use crate::llm::{JsonReply, Llm, LlmError, Message, ReplyFormat};
use crate::{clock, limits};

const SYSTEM_PROMPT: &str = include_str!("docs/answer.txt");

/// Beginning of an answer about a job without an error.
const NO_JOB_ERROR: &str = "No error is stored for this job: it did not fail, is unknown, or has expired.";

/// The model's answer.
#[derive(Deserialize)]
struct ModelAnswer {
    answer: String,
    sources: Vec<usize>,
}

impl Engine {
    /// Answers a question from these pages, or says that they do not answer it. The answer starts with the error
    /// of the job that the question is about, if there is one. `base` is this server's URL as the client sees it.
    ///
    /// # Errors
    /// 503 if the question is about a job and the store fails.
    pub async fn ask_docs(
        &self,
        principal: &Principal,
        pages: &Docs,
        request: &DocsSearchRequest,
        base: &str,
    ) -> Result<DocsResponse, ApiError> {
        let started = Instant::now();
        let question = request.question.as_str();
        let job_error = match &request.job_id {
            Some(id) => Some(self.job_error(principal, id).await?),
            None => None,
        };
        let found = pages.search(question);
        let by_model = match &self.context.config.llm {
            Some(llm) if !found.is_empty() => by_model(llm, question, &found, base).await,
            Some(_) | None => Err(ModelUsage::default()),
        };
        let (answer, evidence, usage) = by_model.unwrap_or_else(|usage| {
            let found = docs::passages(&found);
            (docs::answer(found, base), docs::evidence(found, base), usage)
        });
        Ok(DocsResponse {
            success: true,
            request_id: clock::new_job_id().to_string(),
            answer: match job_error {
                Some(error) => format!("{error}\n\n{answer}"),
                None => answer,
            },
            evidence,
            usage,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Returns a sentence with the error of a job of the team: its own, or that of its first failed page.
    async fn job_error(&self, principal: &Principal, id: &str) -> Result<String, ApiError> {
        let store = &self.context.store;
        let row = match id.parse() {
            Ok(id) => store.job(principal.team, id, clock::now()).await?,
            Err(_) => None,
        };
        let error = match row {
            Some(row) if row.error.is_none() && row.failed > 0 => {
                let first = store.errors(row.id).await?.errors.into_iter().next();
                first.map(|page| format!("The job could not read {}: {}", page.url, page.message))
            }
            row => row
                .and_then(|row| row.error)
                .map(|error| format!("The job failed: {error}")),
        };
        Ok(error.unwrap_or_else(|| NO_JOB_ERROR.to_owned()))
    }
}

/// Returns the model's answer, or the tokens that the attempt used if there is no usable answer.
async fn by_model(
    llm: &Llm,
    question: &str,
    found: &[SearchHit<'_>],
    base: &str,
) -> Result<(String, Vec<Evidence>, ModelUsage), ModelUsage> {
    let passages = &found[..found.len().min(limits::DOCS_PASSAGES)];
    let (value, usage) = match request_answer(llm, question, passages).await {
        Ok(JsonReply { value, usage }) => (value, usage),
        Err(error) => {
            tracing::warn!(%error, "cannot answer a documentation question with the language model; returning passages");
            return Err(ModelUsage::default());
        }
    };
    let model_answer: ModelAnswer = serde_json::from_value(value).map_err(|_| usage)?;
    let cited: Vec<SearchHit<'_>> = (1..)
        .zip(passages)
        .filter(|(number, _)| model_answer.sources.contains(number))
        .map(|(_, found)| found.clone())
        .collect();
    let text = model_answer.answer.trim();
    match (text.is_empty(), cited.is_empty()) {
        (true, _) => Ok((docs::NO_MATCH.to_owned(), Vec::new(), usage)),
        // Without a citation the answer does not come from the pages.
        (false, true) => Err(usage),
        (false, false) => Ok((text.to_owned(), docs::evidence(&cited, base), usage)),
    }
}

async fn request_answer(llm: &Llm, question: &str, found: &[SearchHit<'_>]) -> Result<JsonReply, LlmError> {
    let passages = (1..).zip(found).map(|(number, found)| {
        let (name, text) = (found.section.name(), &found.section.text);
        format!("<passage number=\"{number}\" title=\"{name}\">\n{text}\n</passage>\n")
    });
    let passages: String = passages.collect();
    let messages = [
        Message::System(SYSTEM_PROMPT.to_owned()),
        Message::User(format!("{passages}\nQuestion: {question}")),
    ];
    let deadline = Instant::now() + limits::DOCS_TIMEOUT;
    llm.chat_json(
        &messages,
        ReplyFormat::Schema("answer", &answer_schema()),
        deadline,
    )
    .await
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "sources": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["answer", "sources"],
        "additionalProperties": false,
    })
}
