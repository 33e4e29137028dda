//! Sentences that a map tells its caller.

use url::Url;

/// Addresses were left out although `limit` has room for more than was kept.
pub const TOO_MANY: &str = "The site has more addresses than a map can look at: some were left out. Map a part of it, or \
    narrow the map with `includePaths` or `excludePaths`.";

/// `sitemap: only`, and there is none.
pub const NO_SITEMAP: &str =
    "The site has no sitemap that could be read; with `sitemap` `include` its links are listed too.";

/// The rest of the sitemaps was given up.
pub const SITEMAPS_TOO_SLOW: &str =
    "The sitemaps of the site took too long: not all were read. A `timeout` says how long to wait.";

/// The page at `url` answered with an error.
pub fn error_status(status: u16) -> String {
    format!("The page at `url` was answered with HTTP status {status}.")
}

/// The page at `url` is on another site.
pub fn redirected_away(to: &Url) -> String {
    format!("The address redirects to another site, {to}; map that one to see its addresses.")
}

/// The page at `url` could not be had, for this reason.
pub fn no_page(why: &str) -> String {
    format!("The page at `url` could not be read: {why}")
}

/// Nothing of the site answers, for this reason.
pub fn unreachable(site: &Url, why: &str) -> String {
    format!("The sitemaps of {site} could not be looked for: {why}")
}
