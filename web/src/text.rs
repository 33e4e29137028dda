//! Words that people read, in one place, so that a translation is a second file. Names and help of
//! API fields are in [`crate::fields`].

/// Name of the product.
pub const PRODUCT: &str = "Harvestman";
/// Link before everything else.
pub const SKIP: &str = "Skip to content";
/// Section of the navigation.
pub const TEAM: &str = "Team";
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
/// A job that waits for its hosts.
pub const LIMITED_BY_HOST_DELAY: &str =
    "The next page waits for the delay of the job or of its host, or for its next attempt.";
/// A job with as many pages in flight at each site as allowed.
pub const LIMITED_BY_SITE: &str =
    "Each site has as many pages in flight as allowed. maxConcurrency of a job allows more.";
/// A job with as many pages in flight as allowed.
pub const LIMITED_BY_CONCURRENCY: &str =
    "As many pages are in flight as maxConcurrency of the job or the limit of the team allows.";
/// A job whose pages wait for the browser.
pub const LIMITED_BY_BROWSER: &str =
    "Pages wait for the browser. HARVESTMAN_MAX_BROWSER_PAGES allows more at once.";
/// A job whose pages wait for a core.
pub const LIMITED_BY_CONVERSION: &str = "Pages wait to be converted: every core of the server is busy.";
/// A job whose pages wait for the database.
pub const LIMITED_BY_STORAGE: &str = "Pages wait to be stored.";
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
/// What a search looks in where no search provider is configured.
pub const OWN_PAGES: &str = "own pages only";
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
/// An address that leads to a page beyond the last.
pub const NO_SUCH_PAGE: &str = "This job has no such page, or not yet.";
/// Cancel dialog.
pub const CANCEL_TITLE: &str = "Cancel this job?";
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
/// Comment below a call of a tool.
pub const MCP_CALL: &str = "What a program sends to harvestman mcp, which takes server and key from HARVESTMAN_API_URL and HARVESTMAN_API_KEY.";
/// Comment below a snippet of a request that cannot be sent.
pub const NOT_YET: &str = "The form is not acceptable yet: this is the last request that was.";
/// The part of a text that is not rendered.
pub const CUT: &str =
    "This page is very long: only its beginning is rendered. The Markdown tab has all of it.";
/// Heading of activity.
pub const ACTIVITY_INTRO: &str = "What was asked of this server in the last 24 hours.";
/// Empty activity.
pub const NO_ACTIVITY: &str =
    "Calls of the last 24 hours will be listed here, from the console and from your code.";
/// Nothing matches the filter.
pub const NO_SUCH_ACTIVITY: &str = "No such call. Older ones may match: read on, or choose another filter.";
/// Heading of usage.
pub const USAGE_INTRO: &str = "What the team spent, month by month.";
/// Empty usage.
pub const NO_USAGE: &str = "Bars will be here once something was spent.";
/// Heading of ask.
pub const ASK_INTRO: &str = "Questions to this server's own documentation.";
/// Empty answer.
pub const NO_ANSWER: &str = "The answer will be here, with the places that it comes from. For example:";
/// Ask without a model.
pub const NO_MODEL: &str = "No language model is configured, so an answer is the passages of the documentation that fit the question best.";
/// Heading of search.
pub const SEARCH_INTRO: &str = "Search the web, and scrape what you find.";
/// Empty results.
pub const NO_RESULTS: &str = "Results will be here, by source; tick some to scrape them.";
/// A search without a result.
pub const NO_HITS: &str = "Nothing was found here.";
/// Below the formats of a search.
pub const SEARCH_FORMATS: &str = "What is made of each result; none chosen: results are not scraped.";
/// Heading of extract.
pub const EXTRACT_INTRO: &str = "Data from pages, as you describe it.";
/// Empty extraction.
pub const NO_EXTRACT: &str = "The data will be here, beside the pages that it comes from.";
/// An extraction that ended without data.
pub const NOTHING_EXTRACTED: &str = "There is no data.";
/// Heading of keys.
pub const KEYS_INTRO: &str =
    "Who may use this server in the name of the team, and how its webhooks are signed.";
/// Revoke dialog.
pub const REVOKE_TEXT: &str =
    "Whoever uses it is refused from this moment on. A revoked key cannot come back.";
/// Why the last key stays.
pub const LAST_KEY: &str = "The last key cannot be revoked: without one nobody could make another.";
/// Rotate dialog.
pub const ROTATE_TEXT: &str =
    "Every delivery from now on is signed with a new secret; receivers that know the old one will refuse it.";
/// Webhooks without a secret.
pub const WEBHOOKS_UNSIGNED: &str = "Webhooks are not signed, so a receiver cannot tell who sent them.";
/// Webhooks by the team's secret.
pub const WEBHOOKS_OWN: &str =
    "Webhooks are signed with the team's own secret. It is not shown again; rotate it when it may be known.";
/// Webhooks by the operator's secret.
pub const WEBHOOKS_SETTING: &str =
    "Webhooks are signed with the secret of the operator's settings. A secret of the team takes its place.";
/// Heading of tools.
pub const TOOLS_INTRO: &str = "They run in this page: nothing that you paste is sent anywhere.";
/// A screen whose part could not be fetched.
pub const NOT_FETCHED: &str = "This screen could not be loaded";
/// A screen whose part could not be fetched.
pub const NOT_FETCHED_TEXT: &str = "The server does not answer, or it is a newer version than this page.";
/// The tools' program could not be loaded.
pub const PACKAGE_LOST: &str = "The tools could not be loaded.";
/// A build without the tools' program.
pub const NO_PACKAGE: &str =
    "This build of the console does not have them; `cargo xtask console` makes one that has.";
/// Empty tool.
pub const TOOL_PAGE_EMPTY: &str = "Paste a page's HTML: its Markdown, links and metadata will be here.";
/// Empty tool.
pub const TOOL_SCOPE_EMPTY: &str =
    "Give a start and some links: which of them a crawl would follow, and why not, will be here.";
/// Empty tool.
pub const TOOL_ROBOTS_EMPTY: &str =
    "Paste a robots.txt and give an address: whether it may be fetched will be here.";
/// Robots tool: what is allowed by itself.
pub const TOOL_ROBOTS_NO_RULE: &str = "none is about this address";
/// Empty tool.
pub const TOOL_SITEMAP_EMPTY: &str = "Paste a sitemap: the addresses in it will be here.";
/// Empty tool.
pub const TOOL_WEBHOOK_EMPTY: &str =
    "Paste a delivery and its secret: whether its signature fits will be here.";
/// Heading of sessions.
pub const SESSIONS_INTRO: &str =
    "Live browsers: watch them, take them over, run code or plain words in them.";
/// No live session.
pub const NO_SESSIONS: &str = "No browser is open. A session begins when you interact with a scraped page, or with a browser of its own.";
/// Stop dialog.
pub const STOP_TITLE: &str = "Stop this session?";
/// Stop dialog.
pub const STOP_TEXT: &str = "Its browser is closed and cannot be opened again. What it cost is charged now.";
/// After control was taken.
pub const CONTROL_TAKEN: &str = "You have control of the browser";
/// After control was given back.
pub const CONTROL_GIVEN: &str = "Control given back; the view is read-only";
/// Above a live view that takes input.
pub const IN_CONTROL: &str = "Clicks and keys go to this page.";
/// Above a live view that takes none.
pub const READ_ONLY: &str = "You watch; nothing you do here reaches the page.";
/// A session without live views.
pub const NO_LIVE_VIEW: &str = "This session was opened without a live view.";
/// A scrape whose browser was not opened.
pub const NOT_OPENED: &str = "No browser is open for this page yet. Opening one does the scrape again and leaves the page as it was then.";
/// A session that is over.
pub const SESSION_OVER: &str = "Its browser is closed; what was run in it is in the history.";
/// Session without a scrape.
pub const NO_PROMPTS: &str =
    "A browser of its own takes code. Prompts need a session that continues a scraped page.";
/// Nothing to run.
pub const NOTHING_TO_RUN: &str = "Write something to run first.";
/// Timeout that the API refuses.
pub const WRONG_TIMEOUT: &str = "The timeout must be 1 to 300 seconds.";
/// Help of code.
pub const CODE_HELP: &str = "node and python have the session's page as page and may await; bash takes browser commands, one a line, such as click, fill, get text.";
/// Help of prompts.
pub const PROMPT_HELP: &str = "Steps in plain words, such as click \"More\", type \"shoes\" into Search. A model, where one is configured, takes any task.";
/// Example of a prompt.
pub const PROMPT_EXAMPLE: &str = "Click the link \"Pricing\" and tell me what the cheapest plan costs";
/// Session without a call.
pub const NO_CALLS: &str = "Nothing was run from this device yet.";
/// Heading of map.
pub const MAP_INTRO: &str = "List the addresses of a site before anything of it is scraped.";
/// Result card of map.
pub const NO_MAP: &str =
    "The addresses will be here, as a list and as a tree. Tick some to scrape or crawl them.";
/// A site without addresses.
pub const NOTHING_FOUND: &str =
    "No address was found. A site without a sitemap whose start page has no links looks like this.";
/// Foot of the list of addresses.
pub const TICK_SOME: &str = "Tick addresses to scrape or crawl them.";
/// When the browser refuses to save.
pub const NOT_SAVED: &str = "The browser does not allow saving";
/// A job that is no list of pages.
pub const NO_LIST: &str = "It has no list of pages; its answer went to whoever asked for it.";
/// Below the graph.
pub const GRAPH_HELP: &str = "Drag to move, Shift and wheel or + and - to zoom, click a page to read it.";
/// Foot of a graph with too many links.
pub const GRAPH_CUT: &str = " (more are not drawn)";
/// After an export.
pub const EXPORTED: &str = "Saved";
/// An archive that would be too large.
pub const ARCHIVE_FULL: &str =
    "That is more than a ZIP archive holds (65,535 files, 4 GiB). Take JSONL instead.";
/// Plan without an address.
pub const PLAN_NEEDS_URL: &str = "Give the start page first: the plan is made for it.";
/// Plan without words.
pub const PLAN_NEEDS_WORDS: &str = "Say in words what shall be crawled.";
/// Below the plan.
pub const PLAN_HELP: &str = "Options from a sentence, to look at before they count.";
/// Below the proposals.
pub const YOURS_WINS: &str = "What you set yourself wins.";
/// Example of a plan.
pub const PLAN_EXAMPLE: &str = "Only the blog, at most 50 pages, two levels deep, skip the tag pages";
/// Card of a look at a site.
pub const PREVIEW_HELP: &str = "What robots.txt says to this server, and which pages of the sitemaps belong to the crawl. Costs a scrape and a map.";
/// Product token that this server is in robots.txt unless its operator or the form says otherwise.
pub const ROBOTS_AGENT: &str = "Harvestman";
/// robots.txt that could not be fetched.
pub const ROBOTS_UNREAD: &str = "It could not be read:";
/// A site without robots.txt.
pub const ROBOTS_NONE: &str = "There is none: everything is allowed.";
/// A site without a sitemap.
pub const SITEMAP_NONE: &str = "No sitemap names a page; the crawl follows links alone.";
/// The part of a source text that is not shown.
pub const CUT_SOURCE: &str =
    "This is very long: only its beginning is shown. Copying and saving take all of it.";
/// A graph of pages that were kept without their list of links.
pub const GRAPH_MARKDOWN: &str = "Each page hangs where it was found first. The other links are those in the pages' Markdown, which leaves out navigation; with the format links the graph has all of them.";
/// Code of a text in the JSON tab that cannot be read.
pub const NO_JSON: &str = "NO_JSON";
/// JSON of another shape than a body.
pub const NO_OBJECT: &str = "The body must be a JSON object";
/// Why a text in the JSON tab that cannot be read was not sent.
pub const JSON_NOT_SENT: &str = "Nothing was sent.";
/// Above the list of actions.
pub const ACTIONS_HELP: &str = "Done in this order once the page is loaded, before it is read.";
/// Comment below a snippet of a form that does not say yet what it is about.
pub const EXAMPLE_SUBJECT: &str = "An example, until the form says what it is about.";
/// A key without a name.
pub const KEY_NEEDS_NAME: &str = "Give the key a name first, so that you know it again.";
/// From a job that cannot be shown to those that can.
pub const SEE_ACTIVITY: &str = "See the last calls";
