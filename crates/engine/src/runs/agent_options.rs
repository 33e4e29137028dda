//! What the options of an agent mean for its pages, and which of them have no effect on this server.

use harvestman_core::api::agent::{AgentMode, AgentRequest};
use harvestman_core::api::extract::{ExtractRequest, ExtractTarget};
use harvestman_core::api::format::{Format, JsonFormat};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing;
use serde_json::Value;

use crate::context::Context;
use crate::limits;

/// Returns the warning about a requested model that is not the operator's.
pub(super) fn ignored_model(context: &Context, field: &str, requested: Option<&str>) -> Option<String> {
    let requested = requested?;
    let reason = match &context.config.llm {
        Some(llm) if llm.model() == requested => return None,
        Some(llm) => format!("the operator of this server chose `{}`", llm.model()),
        None => "no language model is configured on this server".to_owned(),
    };
    Some(format!("`{field}` had no effect: {reason}."))
}

/// Returns a warning for each option that has no effect.
pub(super) fn ignored_options(context: &Context, request: &AgentRequest, has_earlier: bool) -> Vec<String> {
    let without_model = context.config.llm.is_none();
    let model = ignored_model(context, "model", request.model.as_deref());
    let mut warnings: Vec<String> = model.into_iter().chain(request.caller.warning()).collect();
    let mut warn = |is_ignored: bool, warning: &str| {
        if is_ignored {
            warnings.push(warning.to_owned());
        }
    };
    warn(
        without_model && request.effort.is_some(),
        "`effort` had no effect: no language model is configured on this server.",
    );
    warn(
        without_model && request.mode == Some(AgentMode::Chat),
        "`mode` had no effect: no language model is configured on this server.",
    );
    warn(
        without_model && has_earlier,
        "The earlier runs of the thread had no effect: no language model is configured on this server.",
    );
    let exchange = request.exchange.as_ref();
    warn(
        exchange.is_some_and(|exchange| exchange["enabled"] != Value::Bool(false)),
        "`exchange` had no effect: this server offers no data of other providers.",
    );
    warnings
}

/// Returns the extract that replaces an agent if there is no model.
pub(super) fn as_extract(request: &AgentRequest) -> ExtractRequest {
    let target = |url: &TargetUrl| ExtractTarget {
        url: url.clone(),
        whole_site: false,
    };
    let has_no_urls = request.urls.is_empty();
    // Reading a page costs one credit.
    let search = match has_no_urls {
        true => billing::search(limits::EXTRACT_SEARCH_RESULTS),
        false => 0,
    };
    ExtractRequest {
        urls: request.urls.iter().map(target).collect(),
        prompt: Some(request.prompt.clone()),
        schema: request.schema.clone(),
        enable_web_search: has_no_urls,
        limit: Some(
            request
                .max_credits
                .saturating_sub(search)
                .min(limits::EXTRACT_PAGES_MAX),
        ),
        scrape_options: options(request),
        ..ExtractRequest::default()
    }
}

/// Returns how an agent reads pages.
pub(super) fn options(request: &AgentRequest) -> ScrapeOptions {
    // The result so far is what the pages state for the schema.
    let facts = request.schema.clone().map(|schema| {
        Format::Json(JsonFormat {
            schema: Some(schema),
            prompt: None,
        })
    });
    ScrapeOptions {
        formats: std::iter::once(Format::Markdown).chain(facts).collect(),
        location: request.location.clone(),
        store_in_cache: !request.zero_data_retention,
        ..ScrapeOptions::default()
    }
}
