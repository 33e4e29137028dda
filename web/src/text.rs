//! Words that people read, in one place, so that a translation is a second file. Names and help of
//! API fields are in [`crate::fields`].

/// Name of the product.
pub const PRODUCT: &str = "Harvestman";
/// Link before everything else.
pub const SKIP: &str = "Skip to content";
/// Heading of the overview.
pub const OVERVIEW_INTRO: &str = "What this server is doing, and what it did.";
/// Heading of scrape.
pub const SCRAPE_INTRO: &str = "Turn one page into clean Markdown, links and metadata.";
/// Heading of crawl.
pub const CRAWL_INTRO: &str = "Follow a site's links and keep every page as clean Markdown.";
/// Heading of settings.
pub const SETTINGS_INTRO: &str = "Kept on this device only.";
/// After the exchange of a one-time code.
pub const SIGNED_IN: &str = "Signed in";
/// After a copy.
pub const COPIED: &str = "Copied";
/// When the browser refuses to copy.
pub const NOT_COPIED: &str = "The browser does not allow copying; select the text instead";
/// Banner of a server that does not answer.
pub const LOST: &str =
    "The server does not answer. What you see is the last that was known; trying again by itself.";
/// A job whose status could not be read.
pub const TRYING_AGAIN: &str = "The last look at this job failed. Trying again; nothing is lost.";
/// Sign-in card.
pub const SIGN_IN_TITLE: &str = "Sign in";
/// Sign-in card.
pub const SIGN_IN_TEXT: &str = "Paste an API key of this server. It was printed at the server's first start; every start also prints a link that signs you in.";
/// Empty result of scrape.
pub const NO_RESULT: &str = "The page will be here: rendered, as Markdown, with its links and metadata.";
/// Empty list of jobs.
pub const NO_JOBS: &str = "Jobs will be listed here. Start with one page or a whole site.";
/// No running crawls.
pub const NO_ACTIVE: &str = "No crawl is running.";
/// No pages yet.
pub const NO_PAGES: &str = "The first page will be here in a moment.";
/// A job that ended without a page.
pub const NO_PAGES_EVER: &str = "This job has no pages.";
/// Nothing matches the filter.
pub const NO_MATCH: &str = "No page matches the filter.";
/// No errors.
pub const NO_ERRORS: &str = "No page has failed.";
/// Request of a job that is not known here.
pub const NO_REQUEST: &str =
    "The request was not sent from this device, and the job is not running any more.";
/// Delivery log of a job without a webhook.
pub const NO_WEBHOOK: &str = "This job has no webhook.";
/// Delivery log without an event, whether of the filter or at all.
pub const NO_EVENTS: &str = "No such event.";
/// After an event is made due again.
pub const SENT_AGAIN: &str = "The event is sent again";
/// Nothing selected.
pub const NO_SELECTION: &str = "Choose a page to read it here.";
/// Cancel dialog.
pub const CANCEL_TITLE: &str = "Cancel this crawl?";
/// Cancel dialog.
pub const CANCEL_TEXT: &str = "Pages that are waiting are dropped. Pages that are done stay readable.";
/// Forget dialog.
pub const FORGET_TITLE: &str = "Forget everything on this device?";
/// Forget dialog.
pub const FORGET_TEXT: &str = "The key, the theme, drafts and remembered requests are removed from this browser. Nothing on the server changes.";
/// Not found.
pub const NOT_FOUND: &str = "Not found";
/// Not found.
pub const NOT_FOUND_TEXT: &str = "There is no screen at this address.";
/// Comment below a snippet.
pub const ONLY_CHANGES: &str = "Only what differs from the defaults is sent.";
/// Comment below a snippet of a request that cannot be sent.
pub const NOT_YET: &str = "The form is not acceptable yet: this is the last request that was.";
/// The part of a text that is not rendered.
pub const CUT: &str =
    "This page is very long: only its beginning is rendered. The Markdown tab has all of it.";
