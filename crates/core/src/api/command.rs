//! The requests that are also commands of the program and tools of its MCP server, and how fields are written as
//! flags. What a request has for fields is asked of its type; nothing here knows one by name but its subject.

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
    /// A request by its name on the command line.
    RequestCommand {
        /// One page.
        Scrape = "scrape",
        /// Pages by their links.
        Crawl = "crawl",
        /// Given pages.
        Batch = "batch",
        /// Addresses of a site.
        Map = "map",
        /// Results of a search.
        Search = "search",
        /// Data from pages.
        Extract = "extract",
        /// A task for an agent.
        Agent = "agent",
    }
}

impl RequestCommand {
    /// Path of the endpoint.
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

    /// The command of a path.
    pub fn of_path(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|command| command.path() == path)
    }

    /// Returns what the command does.
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

    /// Its name among the tools of the MCP server.
    pub fn tool(self) -> String {
        format!("harvestman_{self}")
    }

    /// The command of a tool.
    pub fn of_tool(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix("harvestman_")?)
    }

    /// The field that says what the request is about; on the command line it needs no flag.
    pub fn subject(self) -> &'static str {
        match self {
            RequestCommand::Scrape | RequestCommand::Crawl | RequestCommand::Map => "url",
            RequestCommand::Batch | RequestCommand::Extract => "urls",
            RequestCommand::Search => "query",
            RequestCommand::Agent => "prompt",
        }
    }

    /// Its fields, in the order of reading.
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

    /// The body as it is sent. Errors: 400 with every problem in `details`.
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
            assert_eq!(RequestCommand::of_tool(&command.tool()), Some(*command));
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
