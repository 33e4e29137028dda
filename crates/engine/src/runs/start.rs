//! Starts extracts and agents.

use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::location::Location;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::problem;
use harvestman_core::ids::JobId;
use harvestman_core::webhook::Family;
use harvestman_store::{AgentOutcome, Idempotency, JobKind, NewJob, Principal};
use serde_json::{Map, Value};
use url::Url;

use super::page_selection::{search_query, search_request};
use super::thread::no_thread;
use crate::context::Engine;
use crate::jobs::{new_job, subscribed};
use crate::search::has_own_pages;

impl Engine {
    /// Stores an extract and starts it. Returns once it is stored.
    ///
    /// # Errors
    /// 400, 402, 403; 503 if the request needs a language model and there is none.
    pub async fn start_extract(
        &self,
        principal: &Principal,
        request: ExtractRequest,
        idempotency: Option<Idempotency>,
        base: &str,
    ) -> Result<JobId, ApiError> {
        self.check_model(request.schema.is_some())?;
        self.check_options(&request.scrape_options)
            .map_err(|error| problem::under("scrapeOptions", error))?;
        if request.urls.is_empty() {
            let (prompt, schema) = (request.prompt.as_deref(), request.schema.as_ref());
            self.check_search(principal, prompt, schema, &request.scrape_options.location)
                .await?;
        }
        if !request.scrape_options.lockdown {
            for target in &request.urls {
                self.check_target(&target.url.url, &request.scrape_options)
                    .await?;
            }
        }
        self.check_receiver(request.webhook.as_ref()).await?;
        let first = request.urls.first().map(|target| &target.url.url);
        let context = &self.context;
        let job = NewJob {
            url: first.map(Url::to_string).unwrap_or_default(),
            base: base.to_owned(),
            webhook: subscribed(request.webhook.as_ref(), Family::Extract),
            ..new_job(context, principal, JobKind::Extract, &request, &request.caller)?
        };
        self.start_job(principal, &job, idempotency).await
    }

    /// Stores an agent and starts it. Returns once it is stored.
    ///
    /// # Errors
    /// As for [`Engine::start_extract`].
    pub async fn start_agent(
        &self,
        principal: &Principal,
        request: AgentRequest,
        idempotency: Option<Idempotency>,
        base: &str,
    ) -> Result<JobId, ApiError> {
        request.check_enabled(self.context.config.enabled)?;
        if request.thread_id.is_some() && request.zero_data_retention {
            let why = "cannot be set with `zeroDataRetention`: a thread consists of stored runs";
            return Err(problem::bad_field("threadId", why));
        }
        let has_pages = !request.urls.is_empty() || !request.strict_constrain_to_urls;
        self.check_model(request.schema.is_some() && has_pages)?;
        if request.urls.is_empty() && self.context.config.llm.is_none() {
            let (prompt, schema) = (Some(request.prompt.as_str()), request.schema.as_ref());
            self.check_search(principal, prompt, schema, &request.location)
                .await?;
        }
        for url in &request.urls {
            self.check_target(&url.url, &ScrapeOptions::default()).await?;
        }
        self.check_receiver(request.webhook.as_ref()).await?;
        let first = request.urls.first().map(|url| &url.url);
        let context = &self.context;
        let job = NewJob {
            url: first.map(Url::to_string).unwrap_or_default(),
            base: base.to_owned(),
            webhook: subscribed(request.webhook.as_ref(), Family::Agent),
            zero_data_retention: request.zero_data_retention,
            ..new_job(context, principal, JobKind::Agent, &request, &request.caller)?
        };
        if let Some(first) = self.afford(principal, idempotency.as_ref()).await? {
            return Ok(first);
        }
        let store = &self.context.store;
        let created = store.create_agent(&job, request.thread_id, idempotency.as_ref());
        match created.await? {
            AgentOutcome::Job(created) => self.job_created(&job, Ok(created)),
            AgentOutcome::NoThread => Err(no_thread()),
            AgentOutcome::ThreadBusy => Err(ApiError::conflict(
                "the last run of this thread is still in progress: wait for its end, or cancel it",
            )),
            AgentOutcome::ThreadFull(runs) => Err(ApiError::conflict(format!(
                "this thread has {runs} runs, the maximum: omit `threadId` to start a new thread"
            ))),
        }
    }

    /// Checks that a search can find pages for a run without URLs: on the web, or among the pages of the team.
    async fn check_search(
        &self,
        principal: &Principal,
        prompt: Option<&str>,
        schema: Option<&Map<String, Value>>,
        location: &Location,
    ) -> Result<(), ApiError> {
        if self.context.config.search.is_some() {
            return Ok(());
        }
        if let Some(words) = search_query(prompt, schema) {
            let request = search_request(words, 1, location);
            if has_own_pages(&self.context, principal.team, &request).await? {
                return Ok(());
            }
        }
        Err(problem::bad_field(
            "urls",
            "is required here: no search provider is configured on this server, and none of the pages that your team \
             scraped matches the prompt",
        ))
    }

    fn check_model(&self, works_without_model: bool) -> Result<(), ApiError> {
        if works_without_model || self.context.config.llm.is_some() {
            return Ok(());
        }
        Err(ApiError::new(
            ErrorCode::NotConfigured,
            "no language model is configured on this server; without one a `schema` is required, which is filled from \
             what the pages state",
        ))
    }
}
