//! Messages for the `warning` of a map response.

use url::Url;

/// URLs were dropped although `limit` exceeds the number listed.
pub const TOO_MANY: &str = "The site has more URLs than a map can consider; some were ignored. Map a part of it, or \
    narrow the map with `includePaths` or `excludePaths`.";

/// `sitemap: only`, and the site has no sitemap.
pub const NO_SITEMAP: &str =
    "The site has no readable sitemap. Set `sitemap` to `include` to list its links too.";

/// The request asks for URLs of other sites.
pub const NO_EXTERNAL_LINKS: &str =
    "`allowExternalLinks` had no effect: a map lists URLs of one site. Map the other sites too.";

/// Sitemaps were not read before the timeout.
pub const SITEMAPS_TOO_SLOW: &str =
    "The sitemaps of the site took too long; not all were read. Set a longer `timeout` to wait for them.";

/// The page at `url` responded with an error status.
pub fn error_status(status: u16) -> String {
    format!("The page at `url` returned HTTP status {status}.")
}

/// The page at `url` redirects to another site.
pub fn redirected_off_site(to: &Url) -> String {
    format!("The URL redirects to another site, {to}. Map that site to list its URLs.")
}

/// The page at `url` could not be fetched, for this reason.
pub fn no_page(why: &str) -> String {
    format!("Cannot read the page at `url`: {why}")
}

/// The site is unreachable, for this reason.
pub fn unreachable(site: &Url, why: &str) -> String {
    format!("Cannot look for sitemaps of {site}: {why}")
}
