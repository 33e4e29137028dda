//! The field groups of each form. The declaration of a field in the core names its group.

use super::Group;
use crate::draft::Endpoint;

/// The group that is always visible, below the main field.
pub const MAIN: Group = group("Main", "");

/// Returns the collapsible groups of a form.
pub fn groups(endpoint: Endpoint) -> &'static [Group] {
    match endpoint {
        Endpoint::Scrape => &[PAGE, BROWSER, NETWORK, RETENTION],
        Endpoint::Crawl => &[CRAWL_SCOPE, PAGE, BROWSER, NETWORK, PACE, WEBHOOK],
        Endpoint::Batch => &[PAGE, BROWSER, NETWORK, BATCH, WEBHOOK],
        Endpoint::Map => &[MAP_SCOPE, OWN_NETWORK],
        Endpoint::Search => &[FILTER, RESULTS, PAGE, BROWSER, NETWORK],
        Endpoint::Extract => &[EXTRACT_SCOPE, EXTRACT_RESULT, PAGE, BROWSER, NETWORK, WEBHOOK],
        Endpoint::Agent => &[AGENT_WORK, AGENT_RESULT, OWN_NETWORK, WEBHOOK],
    }
}

const fn group(name: &'static str, about: &'static str) -> Group {
    Group {
        name,
        about,
        page: false,
    }
}

const fn of_page(group: Group) -> Group {
    Group { page: true, ..group }
}

const PAGE: Group = of_page(group("Page", "Content to keep"));
const BROWSER: Group = of_page(group("Browser", "Browser options and actions"));
const NETWORK: Group = of_page(group("Network", "How pages are fetched"));
const RETENTION: Group = group("Retention", "Data that the server stores");
const CRAWL_SCOPE: Group = group("Scope", "URLs that belong to the crawl");
const PACE: Group = group("Pace", "Load on the site");
const BATCH: Group = group("Batch", "How the list is processed");
const WEBHOOK: Group = group("Webhook", "Notifications about this job");
const MAP_SCOPE: Group = group("Scope", "URLs to list");
const FILTER: Group = group("Filter", "Results to include");
const RESULTS: Group = group("Results", "Content and time limit of the results");
const EXTRACT_SCOPE: Group = group("Scope", "Pages to read");
const EXTRACT_RESULT: Group = group("Result", "Model and details of the result");
const AGENT_WORK: Group = group("Work", "Effort, cost and pages of the run");
const AGENT_RESULT: Group = group("Result", "Kind of result, and the thread");
const OWN_NETWORK: Group = group("Network", "How pages are fetched");
