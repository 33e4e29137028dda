//! Requests that are also commands of the program and tools of its MCP server, and the conversion of fields
//! to flags. The fields come from the request types; this module only names the subject of each request.

pub mod flag;

use serde_json::Value;

use crate::api::agent::AgentRequest;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::extract::ExtractRequest;
use crate::api::fields::Field;
use crate::api::search::SearchRequest;
use crate::api::wire_enum::{WireEnum, wire_enum};
use crate::api::{BatchScrapeRequest, CrawlRequest, MapRequest, ScrapeRequest, Wire};

wire_enum! {
    /// Request, by its name on the command line.
    RequestCommand {
        /// Scrape of one page.
        Scrape = "scrape",
        /// Crawl of a site by its links.
        Crawl = "crawl",
        /// Scrape of a list of pages.
        Batch = "batch",
        /// List of the URLs of a site.
        Map = "map",
        /// Search.
        Search = "search",
        /// Extraction of data from pages.
        Extract = "extract",
        /// Task for an agent.
        Agent = "agent",
    }
}

impl RequestCommand {
    /// Returns the path of the endpoint.
    pub fn path(self) -> &'static str {
        match self {
            RequestCommand::Scrape => "/v2/scrape",
            RequestCommand::Crawl => "/v2/crawl",
            RequestCommand::Batch => "/v2/batch/scrape",
            RequestCommand::Map => "/v2/map",
            RequestCommand::Search => "/v2/search",
            RequestCommand::Extract => "/v2/extract",
            RequestCommand::Agent => "/v2/agent",
        }
    }

    /// Returns the command whose endpoint has this path.
    pub fn of_path(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|command| command.path() == path)
    }

    /// Returns a short description of the command.
    pub fn summary(self) -> &'static str {
        match self {
            RequestCommand::Scrape => "Scrape a page: its Markdown, HTML, links, data, ...",
            RequestCommand::Crawl => "Crawl a site",
            RequestCommand::Batch => "Scrape many pages as one job",
            RequestCommand::Map => "List the URLs of a site",
            RequestCommand::Search => "Search, and scrape the results",
            RequestCommand::Extract => "Extract data from pages by a schema or a prompt",
            RequestCommand::Agent => "Let an agent find data",
        }
    }

    /// Returns the name of the tool on the MCP server.
    pub fn tool(self) -> String {
        format!("harvestman_{self}")
    }

    /// Returns the field that holds the subject of the request. It needs no flag on the command line.
    pub fn subject(self) -> &'static str {
        match self {
            RequestCommand::Scrape | RequestCommand::Crawl | RequestCommand::Map => "url",
            RequestCommand::Batch | RequestCommand::Extract => "urls",
            RequestCommand::Search => "query",
            RequestCommand::Agent => "prompt",
        }
    }

    /// Returns the fields of the request in the order in which they are read.
    pub fn fields(self) -> Vec<Field> {
        match self {
            RequestCommand::Scrape => ScrapeRequest::fields(),
            RequestCommand::Crawl => CrawlRequest::fields(),
            RequestCommand::Batch => BatchScrapeRequest::fields(),
            RequestCommand::Map => MapRequest::fields(),
            RequestCommand::Search => SearchRequest::fields(),
            RequestCommand::Extract => ExtractRequest::fields(),
            RequestCommand::Agent => AgentRequest::fields(),
        }
    }

    /// Validates a body and returns it as it is sent.
    ///
    /// # Errors
    /// 400 with every problem in `details`.
    pub fn check(self, body: Value) -> Result<Body, ApiError> {
        Ok(match self {
            RequestCommand::Scrape => ScrapeRequest::from_value(body)?.to_body(),
            RequestCommand::Crawl => CrawlRequest::from_value(body)?.to_body(),
            RequestCommand::Batch => BatchScrapeRequest::from_value(body)?.to_body(),
            RequestCommand::Map => MapRequest::from_value(body)?.to_body(),
            RequestCommand::Search => SearchRequest::from_value(body)?.to_body(),
            RequestCommand::Extract => ExtractRequest::from_value(body)?.to_body(),
            RequestCommand::Agent => AgentRequest::from_value(body)?.to_body(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::fields::FieldKind;

    #[test]
    fn fields_are_those_that_the_request_reads() {
        for command in RequestCommand::ALL {
            let fields = command.fields();
            assert_eq!(RequestCommand::of_path(command.path()), Some(*command));
            assert!(
                fields.iter().any(|field| field.name == command.subject()),
                "{command}"
            );
            for (index, field) in fields.iter().enumerate() {
                assert!(
                    fields[..index].iter().all(|other| other.name != field.name),
                    "{command} asks for `{}` twice",
                    field.name
                );
            }
        }
        let kind = |name: &str| {
            let fields = RequestCommand::Crawl.fields();
            fields.iter().find(|field| field.name == name).map(Field::kind)
        };
        assert_eq!(kind("limit"), Some(FieldKind::Number));
        assert_eq!(
            kind("sitemap"),
            Some(FieldKind::Word(&["skip", "include", "only"]))
        );
        assert_eq!(kind("scrapeOptions"), Some(FieldKind::Object));
        assert_eq!(kind("webhook"), Some(FieldKind::Any));
        assert_eq!(kind("formats"), None);
    }
}
