//! Sentences for `warning` in the status answer. Each is said once by an owner of the job.

use url::Url;

use crate::scope::Reason;

/// Pages were refused by robots.txt.
pub const ROBOTS: &str = "Some pages were not crawled because robots.txt does not allow them or could not be read; they are listed in robotsBlocked of GET /v2/crawl/{id}/errors.";
/// More URLs were found than a job may know.
pub const TOO_MANY_URLS: &str =
    "The site has more addresses than a crawl with this limit looks at; further ones were left out.";
/// The child rule left the start page alone.
pub const ONLY_CHILDREN: &str = "Only one page was found: the other pages of this site are not below the path of the start URL. Set crawlEntireDomain to true to crawl them.";

/// The start page is refused by robots.txt.
pub(super) fn seed_blocked(seed: &Url) -> String {
    format!("The start page {seed} was not crawled: robots.txt does not allow it.")
}

/// The start page is out of the request's own scope.
pub(super) fn seed_rejected(seed: &Url, reason: Reason) -> String {
    format!(
        "The start page {seed} was not crawled, so nothing was: {}",
        reason.sentence()
    )
}

/// The start page led away.
pub(super) fn seed_left(seed: &Url, to: &Url) -> String {
    format!("The start page {seed} redirects to {to}, which does not belong to this crawl.")
}

/// Error of a job whose host gave no robots.txt; `why` is a sentence.
pub(super) fn robots_unreachable(host: &str, why: &str) -> String {
    let why = why.trim_end_matches('.');
    format!(
        "Nothing could be crawled: {host}/robots.txt could not be read, so no page of this host may be fetched. The reason: {why}."
    )
}

/// Error of a job whose start page gave no answer.
pub(super) fn seed_unreachable(seed: &Url, why: &str) -> String {
    format!("Nothing could be crawled: the start page {seed} could not be fetched. {why}")
        .trim_end()
        .to_owned()
}
