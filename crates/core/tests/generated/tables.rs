//! The field tables by name.

use harvestman_core::api::action::Action;
use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest};
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::fields::{Field, FieldType, Schema};
use harvestman_core::api::format::Format;
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::location::{Location, Profile};
use harvestman_core::api::monitor::MonitorRequest;
use harvestman_core::api::parser::Parser;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::api::{
    BatchScrapeRequest, CrawlRequest, MapRequest, ScrapeOptions, ScrapeRequest, Wire,
};
use harvestman_core::webhook::Family;

/// Every table that a page must have.
pub(crate) const NAMES: &[&str] = &[
    "ScrapeRequest", "ScrapeOptions", "CrawlRequest", "BatchScrapeRequest", "MapRequest", "SearchRequest",
    "ExtractRequest", "AgentRequest", "MonitorRequest", "BrowserRequest", "ExecuteRequest",
    "InteractRequest", "Format", "Action", "PdfParser", "Location", "Profile", "Webhook",
];

/// What a table lists.
pub(crate) enum Table {
    /// The fields of an object.
    Fields(Vec<Field>),
    /// The fields of each object among these, by its `type`.
    Variants(&'static str, Schema),
}

/// Returns a table by its name.
pub(crate) fn named(name: &str) -> Table {
    Table::Fields(match name {
        "ScrapeRequest" => ScrapeRequest::fields(),
        "ScrapeOptions" => ScrapeOptions::fields(),
        "CrawlRequest" => CrawlRequest::fields(),
        "BatchScrapeRequest" => BatchScrapeRequest::fields(),
        "MapRequest" => MapRequest::fields(),
        "SearchRequest" => SearchRequest::fields(),
        "ExtractRequest" => ExtractRequest::fields(),
        "AgentRequest" => AgentRequest::fields(),
        "MonitorRequest" => MonitorRequest::fields(),
        "BrowserRequest" => BrowserRequest::fields(),
        "ExecuteRequest" => ExecuteRequest::fields(),
        "InteractRequest" => InteractRequest::fields(),
        "Location" => Location::fields(),
        "Profile" => Profile::fields(),
        "PdfParser" => Parser::schema(()).variant("pdf"),
        "Webhook" => WebhookSpec::schema(Family::Crawl).object().unwrap().to_vec(),
        "Format" => return Table::Variants("Format", Format::schema(())),
        "Action" => return Table::Variants("Action", Action::schema(())),
        _ => panic!("no field table is called {name}"),
    })
}

/// Returns the fields that people see.
pub(crate) fn shown(fields: &[Field]) -> impl Iterator<Item = &Field> {
    fields.iter().filter(|field| !field.hidden)
}

/// Returns the `type` of an object that has one, and the fields next to it.
pub(crate) fn tagged(fields: &[Field]) -> Option<(&'static str, &[Field])> {
    let (first, rest) = fields.split_first()?;
    match first.schema {
        Schema::Constant(tag) if first.name == "type" => Some((tag, rest)),
        _ => None,
    }
}
