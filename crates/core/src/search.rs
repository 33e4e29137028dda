//! Searches (contract section 9), as far as they need no provider: what a query asks for, which results fit a request,
//! the words by which stored pages are found, and the order in which they are shown. It never fetches.

mod filter;
mod order;
mod page_text;
mod query;
mod window;

pub use filter::Filter;
pub use order::{Candidate, ordered};
pub use page_text::{PageText, passage};
pub use query::Query;
pub use window::{Recent, Window};

/// What the caller is told when stored pages stand in for the web.
pub const OWN_PAGES: &str = "No search provider is configured on this server: these are results from the pages that \
    your team has scraped or crawled here and that are still kept, not from the web.";
/// The same when there are none.
pub const NO_OWN_PAGES: &str = "No search provider is configured on this server, and nothing in the pages that your \
    team has scraped or crawled here fits. Crawl a site with the format `markdown` first, or have the operator set \
    HARVESTMAN_SEARCH_URL.";
/// What is told for sources that only a provider has.
pub const ONLY_WEB: &str =
    "`news` and `images` need a search provider, which is not configured on this server.";
/// What is told when a provider finds nothing.
pub const NOTHING_FOUND: &str = "Nothing was found; use fewer or other words.";
/// What is told when pages did not arrive in time.
pub const SCRAPES_CUT: &str = "The time was over before all results were scraped; those that are missing stay as they \
    were found.";
