//! Messages for `warning` and `error` in the status response. An owner of a job issues each once.

use url::Url;

use crate::scope::Reason;

/// Pages were blocked by robots.txt.
pub const ROBOTS: &str = "Some pages were not crawled because robots.txt disallows them or could not be read. \
     See robotsBlocked in GET /v2/crawl/{id}/errors.";
/// Pages were not fetched for lack of credits.
pub const CREDITS: &str = "Some pages were not fetched because the team's credits are used up. See errors in GET \
     /v2/crawl/{id}/errors or GET /v2/batch/scrape/{id}/errors.";
/// More URLs were found than a job may know.
pub const TOO_MANY_URLS: &str =
    "The site has more URLs than a crawl with this limit considers; the rest were ignored.";
/// Patterns were too complex to match.
pub const COSTLY_PATTERNS: &str = "Some URLs were ignored because matching includePaths and excludePaths takes too long \
     for them. Use simpler patterns.";
/// The child rule excluded every page but the start page.
pub const ONLY_CHILDREN: &str = "Only one page was found: no other page of this site is below the path of the start \
     URL. Set crawlEntireDomain to true to crawl them all.";

/// The start page is blocked by robots.txt.
pub(super) fn seed_blocked(seed: &Url) -> String {
    format!("The start page {seed} was not crawled: robots.txt disallows it.")
}

/// The start page is out of scope of its own request.
pub(super) fn seed_rejected(seed: &Url, reason: Reason) -> String {
    format!(
        "The start page {seed} was not crawled, so no page was: {}",
        reason.sentence()
    )
}

/// The start page redirected out of scope.
pub(super) fn seed_redirected(seed: &Url, to: &Url) -> String {
    format!("The start page {seed} redirects to {to}, which is outside this crawl's scope.")
}

/// Error of a job whose host has no readable robots.txt; `why` is a sentence.
pub(super) fn robots_unreachable(host: &str, why: &str) -> String {
    let why = why.trim_end_matches('.');
    format!(
        "Nothing could be crawled: cannot read {host}/robots.txt, so no page on this host may be fetched. \
         Reason: {why}."
    )
}

/// Error of a job whose start page did not respond.
pub(super) fn seed_unreachable(seed: &Url, why: &str) -> String {
    let reason = match why.trim_end_matches('.') {
        "" => String::new(),
        why => format!(" Reason: {why}."),
    };
    format!("Nothing could be crawled: cannot fetch the start page {seed}.{reason}")
}
