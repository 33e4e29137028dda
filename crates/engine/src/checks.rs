//! Checks that a request must pass before anything is stored: private addresses, the team's credits.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::JobId;
use harvestman_core::scrape::{Capabilities, check_supported};
use harvestman_fetch::Proxy;
use harvestman_store::{CreateOutcome, Idempotency, Principal};
use url::Url;

use crate::clock;
use crate::context::{Context, Engine};
use crate::error::key_reused;
use crate::proxies::Routes;

impl Engine {
    /// Rejects a webhook receiver at a private address.
    pub(crate) async fn check_receiver(&self, webhook: Option<&WebhookSpec>) -> Result<(), ApiError> {
        match webhook {
            Some(webhook) => self.check_receiver_at(&["webhook", "url"], webhook).await,
            None => Ok(()),
        }
    }

    /// Like [`Self::check_receiver`], for a receiver whose URL is at `path` of the body.
    pub(crate) async fn check_receiver_at(
        &self,
        path: &[&str],
        webhook: &WebhookSpec,
    ) -> Result<(), ApiError> {
        self.check_address(&webhook.url, None).await.map_err(|error| {
            let message = format!("`{}`: {}", path.join("."), error.message);
            ApiError::bad_request(message)
                .with_details(serde_json::json!([{ "path": path, "message": error.message }]))
        })
    }

    /// Rejects options that this server cannot fulfil.
    pub(crate) fn check_options(&self, options: &ScrapeOptions) -> Result<(), ApiError> {
        check_supported(options, &self.context.capabilities())?;
        self.context.scraper.proxies().check(options)
    }

    /// Rejects a page at a private address before anything is stored. A host that does not resolve is accepted
    /// here: the job reports it.
    pub(crate) async fn check_target(&self, url: &Url, options: &ScrapeOptions) -> Result<(), ApiError> {
        let routes = Routes::new(self.context.scraper.proxies(), options);
        self.check_address(url, routes.proxy(routes.first(), url).as_deref())
            .await
    }

    async fn check_address(&self, url: &Url, proxy: Option<&Proxy>) -> Result<(), ApiError> {
        match self.context.scraper.fetcher().check_target(url, proxy).await {
            Err(error) if error.code() == ErrorCode::UnsafeTarget => {
                Err(ApiError::new(error.code(), error.to_string()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Checks that the team has a credit left for a new job. A repeated request (same idempotency key and
    /// body) costs nothing: without credits it returns the id of the first job.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn afford(
        &self,
        principal: &Principal,
        idempotency: Option<&Idempotency>,
    ) -> Result<Option<JobId>, ApiError> {
        let Err(refusal) = self.context.budget.check(principal.team).await else {
            return Ok(None);
        };
        let Some(idempotency) = idempotency else {
            return Err(refusal);
        };
        let store = &self.context.store;
        let earlier = store
            .find_earlier_request(principal.team, idempotency, clock::now())
            .await;
        match earlier? {
            Some(CreateOutcome::Repeated(id)) => Ok(Some(id)),
            Some(CreateOutcome::KeyReused) => Err(key_reused()),
            Some(CreateOutcome::Created) | None => Err(refusal),
        }
    }
}

impl Engine {
    /// Returns whether this server recognizes text in images.
    pub fn recognizes_text(&self) -> bool {
        self.context.config.recognizer.is_some()
    }
}

impl Context {
    /// Returns what this server can do for a page.
    pub(crate) fn capabilities(&self) -> Capabilities {
        Capabilities {
            browser: self.scraper.browser().is_some(),
            model: self.config.llm.is_some(),
        }
    }
}
