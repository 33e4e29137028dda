//! Crawl options from a description: by the language model, or by the core's rules if there is no model or it
//! fails. The core decides which proposed options are used; options that the client sets win.

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::params_preview::{ParamsPreview, ParamsPreviewRequest};
use harvestman_core::params_preview::proposal_schema;
use tokio::time::Instant;

use crate::context::Engine;
use crate::limits;
use crate::llm::{Llm, LlmError, Message, ReplyFormat};

const SYSTEM_PROMPT: &str = include_str!("crawl_prompt/options.txt");
const CONFLICTING_OPTIONS: &str =
    "The options derived from `prompt` conflict with those of the request and were ignored.";

impl Engine {
    /// Returns the crawl options that a description asks for. Never fails: `warning` says what was not
    /// understood.
    pub async fn crawl_params(&self, request: &ParamsPreviewRequest) -> ParamsPreview {
        let config = &self.context.config;
        let by_rules = || ParamsPreview::from_prompt(request, config.enabled);
        let Some(llm) = &config.llm else {
            return by_rules();
        };
        let reason = match propose(llm, request).await {
            Ok(proposal) => match ParamsPreview::from_proposal(request, &proposal, config.enabled) {
                Some(preview) => return preview,
                None => "it proposed no valid crawl option".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        tracing::warn!(%reason, "cannot read a crawl prompt with the language model; using the built-in rules");
        let mut preview = by_rules();
        preview.warn(&format!(
            "The prompt was read by the built-in rules because the language model failed: {reason}."
        ));
        preview
    }

    /// Parses the body of a crawl request and fills fields that it leaves out from its `prompt`. Also returns
    /// the warning for the client, if any.
    ///
    /// # Errors
    /// 400 with every problem in `details`.
    pub async fn read_crawl(&self, body: &[u8]) -> Result<(CrawlRequest, Option<String>), ApiError> {
        let request = CrawlRequest::from_json(body)?;
        let Some(prompt) = request.prompt.clone().filter(|prompt| !prompt.trim().is_empty()) else {
            return Ok((request, None));
        };
        let preview_request = ParamsPreviewRequest {
            url: request.url.clone(),
            prompt,
            caller: request.caller.clone(),
        };
        let mut preview = self.crawl_params(&preview_request).await;
        match CrawlRequest::from_json_with_defaults(body, &preview.data) {
            Ok(completed) => Ok((completed, preview.warning)),
            Err(_) => {
                preview.warn(CONFLICTING_OPTIONS);
                Ok((request, preview.warning))
            }
        }
    }
}

async fn propose(llm: &Llm, request: &ParamsPreviewRequest) -> Result<serde_json::Value, LlmError> {
    let messages = [
        Message::System(SYSTEM_PROMPT.to_owned()),
        Message::User(format!(
            "Start URL: {}\n<request>\n{}\n</request>",
            request.url.url, request.prompt
        )),
    ];
    let deadline = Instant::now() + limits::CRAWL_PROMPT_TIMEOUT;
    let schema = proposal_schema();
    llm.chat_json(&messages, ReplyFormat::Schema("crawl_options", &schema), deadline)
        .await
        .map(|reply| reply.value)
}
