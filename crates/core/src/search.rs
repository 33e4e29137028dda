//! Search (docs/API.md section 9) without the provider: query parsing, result filters, the searchable
//! text of stored pages, and the ranking of results. It never fetches.

mod filter;
mod page_text;
mod query;
mod rank;
mod window;

pub use filter::Filter;
pub use page_text::{PageText, opening, passage};
pub use query::Query;
pub use rank::{Candidate, rank};
pub use window::{RecentUnit, Window};

/// Warning when stored pages replace web results.
pub const STORED_PAGES_ONLY: &str = "No search provider is configured on this server. These results are not from the web; they \
    come from stored pages that your team scraped or crawled here.";
/// Warning when no stored page matches either.
pub const NO_STORED_PAGES: &str = "No search provider is configured on this server, and no page that your team scraped or \
    crawled here matches. Crawl a site with the format `markdown` first, or ask the operator to set \
    HARVESTMAN_SEARCH_URL.";
/// Warning for sources that need a provider.
pub const NEEDS_PROVIDER: &str =
    "`news` and `images` need a search provider, which is not configured on this server.";
/// Warning when a request selects a kind of search that this server does not have.
pub const NO_ENTERPRISE: &str = "`enterprise` had no effect: it selects a search mode of the hosted product. The operator \
    of this server chooses the search provider.";
/// Warning when a request has a filter of the hosted product.
pub const NO_FILTER: &str = "`filter` had no effect: this server does not have it. Filter with `categories`, \
    `includeDomains`, `excludeDomains` or `tbs`.";
/// Warning when a provider returns no results.
pub const NO_RESULTS: &str = "No results. Use fewer or different words.";
/// Warning when pages did not arrive in time.
pub const SCRAPES_TIMED_OUT: &str = "The timeout passed before all results were scraped; the remaining results are returned \
    without page content.";
