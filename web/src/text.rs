//! The user-visible texts of the console that are longer than a label, in one place so that a translation is a second
//! file. Labels and help of API fields come from the core (see [`crate::fields`]); short labels are in the
//! components.

/// Product name.
pub const PRODUCT: &str = "Harvestman";
/// Skip link, the first element of the page.
pub const SKIP: &str = "Skip to content";
/// Navigation section.
pub const TEAM: &str = "Team";
/// Navigation: link to the API reference of the server.
pub const API_REFERENCE: &str = "API reference";
/// Overview: introduction.
pub const OVERVIEW_INTRO: &str = "Server health, running work and recent activity.";
/// Scrape: introduction.
pub const SCRAPE_INTRO: &str = "Turn one page into clean Markdown, links and metadata.";
/// Crawl: introduction.
pub const CRAWL_INTRO: &str = "Follow the links of a site and get every page as clean Markdown.";
/// Settings: introduction.
pub const SETTINGS_INTRO: &str = "Settings are stored in this browser only.";
/// Toast after a one-time code was exchanged for a key.
pub const SIGNED_IN: &str = "Signed in";
/// Toast after a copy.
pub const COPIED: &str = "Copied";
/// Toast when the browser refuses clipboard access.
pub const NOT_COPIED: &str = "The browser blocked copying. Select the text and copy it yourself.";
/// Banner while the server does not respond.
pub const SERVER_UNREACHABLE: &str =
    "The server is not responding. Showing the last known data. Retrying automatically.";
/// Notice on a job whose status request failed.
pub const STATUS_RETRY: &str =
    "Could not load the status of this job. Retrying automatically; no pages are lost.";
/// Limiter `hostDelay`.
pub const LIMITED_BY_HOST_DELAY: &str =
    "The next page waits for the delay of the job or the host, or for a retry.";
/// Limiter `hostConcurrency`.
pub const LIMITED_BY_SITE: &str =
    "Every site has reached its limit of pages in flight. Set maxConcurrency to raise it.";
/// Limiter `concurrency`.
pub const LIMITED_BY_CONCURRENCY: &str =
    "The job has reached its maxConcurrency, or the team has reached its limit of pages in flight.";
/// Limiter `browser`.
pub const LIMITED_BY_BROWSER: &str =
    "Pages wait for a browser slot. The operator can raise HARVESTMAN_MAX_BROWSER_PAGES.";
/// Limiter `conversion`.
pub const LIMITED_BY_CONVERSION: &str = "Pages wait for conversion because every CPU core is busy.";
/// Limiter `storage`.
pub const LIMITED_BY_STORAGE: &str = "Pages wait to be written to the database.";
/// Sign-in card: heading.
pub const SIGN_IN_TITLE: &str = "Sign in";
/// Sign-in card: help.
pub const SIGN_IN_TEXT: &str = "Paste an API key of this server. The server prints a key on its first start, and a sign-in link on every start.";
/// Hint of the switch that keeps the key.
pub const REMEMBER_HELP: &str = "If off, the key is removed when you close this tab.";
/// Scrape: empty result.
pub const SCRAPE_EMPTY: &str = "The scraped page will appear here: rendered, as Markdown, with links and metadata. Enter a URL to start.";
/// Overview: no activity yet.
pub const OVERVIEW_EMPTY: &str = "Your recent calls will appear here. Scrape a page or start a crawl.";
/// Overview: no running crawl.
pub const NO_RUNNING_CRAWL: &str = "No crawl is running.";
/// Overview: what a search covers when no search provider is configured.
pub const SEARCH_OWN_PAGES: &str = "own pages only";
/// Search form: what a search covers when no search provider is configured.
pub const SEARCH_NO_PROVIDER: &str = "No search provider is configured, so a search covers the pages that your team has scraped. Set `HARVESTMAN_SEARCH_URL` to search the web.";
/// Extract form: a prompt alone needs a model.
pub const EXTRACT_NO_MODEL: &str = "No language model is configured on this server, so a prompt alone cannot be used. Add a `schema`; it is filled from the structured data of the pages.";
/// Job: no page yet.
pub const PAGES_PENDING: &str = "Pages will appear here as soon as the first one is fetched.";
/// Job: ended without a page.
pub const NO_PAGES: &str = "This job returned no pages.";
/// Job and map: the filter matches nothing.
pub const NO_FILTER_MATCH: &str = "No page matches the filter.";
/// Job: no errors.
pub const NO_ERRORS: &str = "No page has failed.";
/// Job: no URL is blocked by robots.txt.
pub const NO_BLOCKED_URLS: &str = "robots.txt blocked no URLs of this job.";
/// Health of a job: blocked URLs.
pub const BLOCKED_HELP: &str = "URLs blocked by robots.txt";
/// Job: the request body is not known.
pub const NO_REQUEST: &str =
    "The request of this job is not available: it was not sent from this browser, and the job has ended.";
/// Job: no webhook.
pub const NO_WEBHOOK: &str = "This job has no webhook.";
/// Job: no webhook event, or none that matches the filter.
pub const NO_EVENTS: &str = "No webhook events to show.";
/// Toast after a webhook event was scheduled again.
pub const WEBHOOK_RESENT: &str = "Sending the event again";
/// Job: no page selected.
pub const NO_PAGE_SELECTED: &str = "Select a page to read it here.";
/// Job: the URL refers to a page beyond the last one.
pub const NO_SUCH_PAGE: &str = "This job does not have this page yet. Select a page from the list.";
/// Cancel dialog: heading.
pub const CANCEL_TITLE: &str = "Cancel this job?";
/// Cancel dialog: text.
pub const CANCEL_TEXT: &str = "Pages that are not fetched yet are dropped. Finished pages stay available.";
/// Clear dialog: heading.
pub const CLEAR_TITLE: &str = "Clear all local data?";
/// Clear dialog: text.
pub const CLEAR_TEXT: &str = "This removes the API key, theme, drafts, remembered requests and results from this browser, and signs you out. Nothing changes on the server.";
/// Unknown URL: heading.
pub const NOT_FOUND: &str = "Not found";
/// Unknown URL: text.
pub const NOT_FOUND_TEXT: &str = "The console has no screen at this URL.";
/// Note below a code snippet.
pub const SNIPPET_DEFAULTS: &str = "The request contains only values that differ from the defaults.";
/// Note below an MCP tool call.
pub const SNIPPET_MCP: &str = "The message that an MCP client sends to harvestman mcp, which reads the server and the key from HARVESTMAN_API_URL and HARVESTMAN_API_KEY.";
/// Note below a snippet while the form is invalid.
pub const SNIPPET_LAST_VALID: &str = "The form has errors. Showing the last valid request.";
/// Notice above a rendered page that is cut.
pub const RENDER_CUT: &str =
    "This page is too long to render in full. Open the Markdown tab for the complete text.";
/// Activity: introduction.
pub const ACTIVITY_INTRO: &str = "API calls from the last 24 hours.";
/// Activity: no calls.
pub const ACTIVITY_EMPTY: &str =
    "API calls that the console and your code make will appear here for 24 hours. Scrape a page to start.";
/// Activity: the filter matches nothing.
pub const ACTIVITY_NO_MATCH: &str = "No call matches the filter. Load older calls, or change the filter.";
/// Usage: introduction.
pub const USAGE_INTRO: &str = "Credits, tokens and pages that the team used, by month or day.";
/// Usage: nothing used.
pub const USAGE_EMPTY: &str = "Usage by month will appear here after the first call that costs credits.";
/// Ask: introduction.
pub const ASK_INTRO: &str = "Ask a question about this server's documentation.";
/// Ask: empty answer.
pub const ASK_EMPTY: &str =
    "The answer and its sources will appear here. Enter a question, or try an example:";
/// Ask: no language model.
pub const ASK_NO_MODEL: &str =
    "No language model is configured, so answers quote the best matching passages of the documentation.";
/// Search: introduction.
pub const SEARCH_INTRO: &str = "Search the web and scrape the results.";
/// Search: empty results.
pub const SEARCH_EMPTY: &str = "Results will appear here by source. Enter a query to start.";
/// Search: no result in this source.
pub const SEARCH_NO_RESULTS: &str = "No results.";
/// Search: help below the formats.
pub const SEARCH_FORMATS: &str =
    "Formats to scrape each result in. If none is selected, results are not scraped.";
/// Extract: introduction.
pub const EXTRACT_INTRO: &str = "Extract structured data from pages with a prompt or a schema.";
/// Extract: empty result.
pub const EXTRACT_EMPTY: &str =
    "The extracted data and its sources will appear here. Enter URLs and a prompt to start.";
/// Extract: ended without data.
pub const EXTRACT_NO_DATA: &str = "This extraction returned no data.";
/// Parse: introduction.
pub const PARSE_INTRO: &str = "Convert a file to Markdown, HTML and links.";
/// Parse: empty result.
pub const PARSE_EMPTY: &str = "The converted file will appear here: rendered, as Markdown, with links and metadata. Choose a file to start.";
/// Parse: below the empty file field.
pub const PARSE_FILE_HELP: &str = "Choose a file, or drop it here.";
/// Parse: types of files.
pub const PARSE_TYPES_HELP: &str =
    "PDF, Word, Excel, PowerPoint, OpenDocument, RTF, EPUB, HTML, CSV or text, at most 50 MiB.";
/// Parse: sent without a file.
pub const PARSE_NEEDS_FILE: &str = "Choose a file first.";
/// Parse: the file is too large.
pub const PARSE_FILE_TOO_LARGE: &str = "The file is larger than 50 MiB. Split it and convert the parts.";
/// Agent: introduction.
pub const AGENT_INTRO: &str = "Describe a task. The agent finds and reads the pages for it.";
/// Agent: empty result.
pub const AGENT_EMPTY: &str =
    "The result, the steps and the sources of the run will appear here. Enter a prompt to start.";
/// Agent: a run without data.
pub const AGENT_NO_DATA: &str = "This run returned no data.";
/// Agent: no step yet.
pub const AGENT_NO_STEPS: &str = "The steps of the run will appear here.";
/// Agent: no page read.
pub const AGENT_NO_SOURCES: &str = "The pages that the agent reads will appear here.";
/// Agent: no earlier run.
pub const NO_AGENT_RUNS: &str = "Agent runs of this team will appear here.";
/// Agent: note above a partial result.
pub const PARTIAL_VALID: &str = "Found so far. The run has not returned a final result.";
/// Agent: note above a partial result that is invalid.
pub const PARTIAL_INVALID: &str = "Found so far. Required parts of the schema are missing.";
/// Toast after an agent run was cancelled.
pub const AGENT_CANCELLED: &str = "Agent run cancelled";
/// Keys: introduction.
pub const KEYS_INTRO: &str = "API keys of this team, and the secret that signs its webhooks.";
/// Revoke dialog: text.
pub const REVOKE_TEXT: &str = "Requests with this key fail from now on. This cannot be undone.";
/// Keys: why the last key has no Revoke button.
pub const LAST_KEY: &str = "You cannot revoke the last key, because creating another one requires a key.";
/// Rotate dialog: text.
pub const ROTATE_TEXT: &str = "New deliveries are signed with the new secret from now on. Update your receivers, or they will reject the signatures.";
/// Webhook secret: none.
pub const WEBHOOKS_UNSIGNED: &str =
    "Webhooks are not signed, so receivers cannot verify the sender. Create a secret to sign them.";
/// Webhook secret: set by the team.
pub const WEBHOOKS_TEAM_SECRET: &str =
    "Webhooks are signed with the team's secret. It cannot be shown again; rotate it if it may have leaked.";
/// Webhook secret: set by the operator.
pub const WEBHOOKS_SERVER_SECRET: &str =
    "Webhooks are signed with the secret in the server configuration. A team secret replaces it.";
/// Tools: introduction.
pub const TOOLS_INTRO: &str = "Tools run in your browser; what you paste is never sent to a server.";
/// Screen that failed to load: heading.
pub const CHUNK_FAILED: &str = "This screen could not be loaded";
/// Screen that failed to load: text.
pub const CHUNK_FAILED_TEXT: &str =
    "The server is not responding, or it was updated since this page was opened. Reload the page.";
/// Tools: the npm package failed to load.
pub const PACKAGE_FAILED: &str = "Could not load the tools.";
/// Tools: the npm package is not part of the console yet.
pub const PACKAGE_NOT_BUILT: &str = "They are not built yet: `cargo xtask serve` builds them in the background. Reload this page in a few minutes.";
/// HTML tool: empty result.
pub const TOOL_PAGE_EMPTY: &str = "Markdown, links and metadata will appear here. Paste the HTML of a page.";
/// Scope tool: empty result.
pub const TOOL_SCOPE_EMPTY: &str =
    "The scope decision and its reason will appear here for each link. Enter a start URL and some links.";
/// Scope tool: the depth is not a number.
pub const TOOL_SCOPE_DEPTH: &str = "The discovery depth must be a whole number from 0.";
/// Robots tool: empty result.
pub const TOOL_ROBOTS_EMPTY: &str =
    "The robots.txt decision for the URL will appear here. Paste a robots.txt and enter a URL.";
/// Robots tool: no rule matches.
pub const TOOL_ROBOTS_NO_RULE: &str = "no rule matches this URL";
/// Sitemap tool: empty result.
pub const TOOL_SITEMAP_EMPTY: &str = "The URLs of the sitemap will appear here. Paste a sitemap.";
/// Webhook tool: empty result.
pub const TOOL_WEBHOOK_EMPTY: &str =
    "The result of the signature check will appear here. Paste a delivery and its secret.";
/// Monitors: introduction.
pub const MONITORS_INTRO: &str = "Check pages on a schedule and see what has changed.";
/// Monitors: none.
pub const NO_MONITORS: &str = "Your monitors will appear here. Create one below.";
/// Monitor form: help of the schedule.
pub const MONITOR_SCHEDULE_HELP: &str =
    "In words, such as `every 30 minutes`, `daily at 9:00` or `weekdays at 18:30`, or as a cron expression.";
/// Monitor form: help of the time zone.
pub const MONITOR_TIMEZONE_HELP: &str = "IANA name, such as `Europe/Berlin`.";
/// Monitor form: several targets.
pub const MONITOR_HAS_TARGETS: &str = "This monitor has several targets; change them through the API.";
/// Monitor form: help of the goal.
pub const MONITOR_GOAL_HELP: &str = "The changes that matter, such as \"the price falls\". Optional.";
/// Monitor form: help of the name.
pub const MONITOR_NAME_HELP: &str = "Default: the first URL or query.";
/// Monitor form: help of the webhook.
pub const MONITOR_WEBHOOK_HELP: &str = "URL that receives each page and the end of each check. Optional.";
/// Monitor: no check.
pub const NO_CHECKS: &str = "Checks will appear here. Select \"Check now\" to start the first one.";
/// Monitor: below the timeline.
pub const TIMELINE_HELP: &str =
    "One bar for each check, oldest first. Its height shows how many pages differ from the previous check.";
/// Check: a new page.
pub const PAGE_IS_NEW: &str =
    "This page was seen for the first time, so there is nothing to compare it with.";
/// Check: an unchanged page.
pub const PAGE_IS_SAME: &str = "The text of this page has not changed since the last check.";
/// Check: a removed page.
pub const PAGE_IS_REMOVED: &str = "This page is no longer there.";
/// Delete dialog: heading.
pub const DELETE_MONITOR_TITLE: &str = "Delete this monitor?";
/// Delete dialog: text.
pub const DELETE_MONITOR_TEXT: &str = "This deletes the monitor with all its checks. A check that is running is cancelled. This cannot be undone.";
/// Sessions: introduction.
pub const SESSIONS_INTRO: &str = "Live browsers that you can watch, control, and run code or prompts in.";
/// Sessions: no live session.
pub const NO_SESSIONS: &str =
    "Live browser sessions will appear here. Open a browser, or scrape a page and interact with it.";
/// Open browser: lifetime that is not a number.
pub const LIFETIME_NOT_A_NUMBER: &str = "The lifetime must be a number of minutes.";
/// Open browser: the first URL failed.
pub const NOT_OPENED: &str = "The browser is open, but the URL could not be opened.";
/// Stop dialog: heading.
pub const STOP_TITLE: &str = "Stop this session?";
/// Stop dialog: text.
pub const STOP_TEXT: &str = "This closes the browser and charges the session. You cannot reopen it.";
/// Toast after taking control.
pub const CONTROL_TAKEN: &str = "You have control of the browser";
/// Toast after releasing control.
pub const CONTROL_RELEASED: &str = "Control released. The view is read-only.";
/// Above an interactive live view.
pub const LIVE_VIEW_INTERACTIVE: &str = "Your clicks and keystrokes go to this page.";
/// Above a read-only live view.
pub const LIVE_VIEW_READ_ONLY: &str = "Your clicks and keystrokes do not reach the page.";
/// Session: no live view.
pub const NO_LIVE_VIEW: &str = "This session was opened without a live view.";
/// Session: the browser of a scrape is not open.
pub const BROWSER_NOT_OPEN: &str = "No browser is open for this page yet. Opening a browser repeats the scrape and leaves the page in the state that the scrape reached.";
/// Session: ended.
pub const SESSION_ENDED: &str = "The browser of this session is closed. The History tab lists what was run.";
/// Session: help of the first prompt in a browser that continues no scrape.
pub const FIRST_PROMPT_HELP: &str =
    "The first prompt scrapes the page of this browser (1 credit) and loads it again.";
/// Session: a prompt in a browser without a page.
pub const PROMPT_NEEDS_PAGE: &str =
    "Open a page in this browser first, for example with the code `open https://example.com`.";
/// Session: nothing to run.
pub const NOTHING_TO_RUN: &str = "Enter code or a prompt to run.";
/// Session: timeout out of range.
pub const TIMEOUT_OUT_OF_RANGE: &str = "The timeout must be 1 to 300 seconds.";
/// Session: help of the code editor.
pub const CODE_HELP: &str = "In node and python, page is the session's page and you can use await. In bash, enter one browser command per line, such as click, fill or get text.";
/// Session: help of the prompt editor.
pub const PROMPT_HELP: &str = "Steps in plain words, such as click \"More\" or type \"shoes\" into Search. With a language model configured, you can describe any task.";
/// Session: example prompt.
pub const PROMPT_EXAMPLE: &str = "Click the link \"Pricing\" and tell me what the cheapest plan costs";
/// Session: empty history.
pub const HISTORY_EMPTY: &str = "Runs from this browser will appear here. Run some code or a prompt.";
/// Session: no recorded step.
pub const RECORDER_EMPTY: &str = "Your steps will appear here as actions or code. Start recording, then click and type in the live view. Recording takes control of the browser.";
/// Session: help of the selector field.
pub const SELECTOR_HELP: &str =
    "Pick an element in the live view to get a selector that matches only this element.";
/// Session: while an element is being picked.
pub const PICKING: &str = "Click an element in the live view. The click is not sent to the page.";
/// Session: no file.
pub const NO_SESSION_FILES: &str =
    "Files that pages download, and files that clients upload to the session, will appear here.";
/// Toast after the lifetime of a session was extended.
pub const SESSION_EXTENDED: &str = "Session extended by 10 minutes";
/// Batch: introduction.
pub const BATCH_INTRO: &str = "Scrape a list of pages as one job.";
/// Batch: below the empty list.
pub const URL_FILE_HELP: &str = "Enter URLs, or drop a text or CSV file here.";
/// Batch: toast for a file that is too large.
pub const URL_FILE_TOO_LARGE: &str = "The file is larger than 8 MiB. Split it and add the parts.";
/// Batch: toast for a file without URLs.
pub const URL_FILE_EMPTY: &str =
    "The file has no URLs. Use one per line, or a CSV file with a column of URLs.";
/// Map: introduction.
pub const MAP_INTRO: &str = "List the URLs of a site without scraping its pages.";
/// Map: empty result.
pub const MAP_EMPTY: &str =
    "The URLs of the site will appear here as a list and a tree. Enter a URL to start.";
/// Map, search and ask: where the result is stored.
pub const RESULT_KEPT: &str = "kept in this browser until there are 30 newer results";
/// Map, search and ask: the URL names a result that this browser does not have.
pub const RESULT_NOT_KEPT: &str = "This result is no longer stored in this browser. Send the request again.";
/// Map: no URL found.
pub const MAP_NO_URLS: &str = "No URLs found. The site may have no sitemap, and no links on its start page.";
/// Map: below the list.
pub const MAP_SELECT: &str = "Select URLs to scrape or crawl them.";
/// Toast when the browser refuses to save a file.
pub const NOT_SAVED: &str =
    "The browser blocked saving the file. Allow downloads for this site and try again.";
/// Job of a kind without pages.
pub const JOB_WITHOUT_PAGES: &str = "This job has no page list; its result was returned to the caller.";
/// Compare: no other run.
pub const NO_OTHER_RUN: &str = "No other run of this URL is stored. Run it again to see what changed.";
/// Compare: no page differs.
pub const NO_CHANGES: &str = "Both runs have the same pages with the same content.";
/// Compare: the runs are larger than what is compared.
pub const COMPARISON_CUT: &str = "Only the first 100,000 pages of each run are compared.";
/// Compare: page without a diff.
pub const NO_DIFFERENCE: &str = "The page is too large to show its differences.";
/// Graph: help.
pub const GRAPH_HELP: &str =
    "Drag to move. To zoom, press + or -, or hold Shift and scroll. Click a page to read it.";
/// Graph: more links than are drawn.
pub const GRAPH_CUT: &str = " (not all are drawn)";
/// Toast after an export.
pub const EXPORTED: &str = "File saved";
/// Export: the archive is too large.
pub const ARCHIVE_FULL: &str =
    "The job exceeds the limits of a ZIP archive (65,535 files, 4 GiB). Export it as JSONL instead.";
/// Crawl description: no URL.
pub const SUGGEST_NEEDS_URL: &str = "Enter a URL first; suggestions depend on the start page.";
/// Crawl description: no text.
pub const SUGGEST_NEEDS_TEXT: &str = "Describe what to crawl first.";
/// Crawl description: help.
pub const SUGGEST_HELP: &str = "Describe the crawl, then review the suggested options.";
/// Crawl description: parts that yield no option.
pub const NOT_UNDERSTOOD: &str = "Not understood, so no option was set for:";
/// Crawl description: below the suggestions.
pub const SUGGEST_KEEPS_VALUES: &str = "Values that you set yourself are kept.";
/// Crawl description: example.
pub const SUGGEST_EXAMPLE: &str = "Only the blog, at most 50 pages, two levels deep, skip the tag pages";
/// Site preview: help.
pub const PREVIEW_HELP: &str = "Shows whether robots.txt allows the crawl, and which links of the start page and URLs of the sitemaps are in scope. Costs two scrapes and one map.";
/// Product token of this server in robots.txt, unless the operator or the form sets another one.
pub const ROBOTS_AGENT: &str = "Harvestman";
/// Site preview: robots.txt could not be fetched.
pub const ROBOTS_FAILED: &str = "Could not be fetched:";
/// Site preview: no robots.txt.
pub const ROBOTS_NONE: &str = "The site has no robots.txt, so every URL is allowed.";
/// Site preview: no sitemap URL.
pub const SITEMAP_NONE: &str = "No sitemap lists a page, so the crawl only follows links.";
/// Removed content: help.
pub const REMOVED_HELP: &str = "Scrapes the page again without removing anything, and marks what is not in the main content. Costs one scrape.";
/// Removed content: nothing.
pub const NOTHING_REMOVED: &str = "Nothing was removed: the main content is the whole page.";
/// Removed content: toast when the options of the page are not known.
pub const REMOVED_UNKNOWN_OPTIONS: &str =
    "The options of this page are not known, so it cannot be scraped again.";
/// Notice above a source text that is cut.
pub const SOURCE_CUT: &str = "Only the first 1 MiB is shown. Copy and Save include the full text.";
/// Graph: pages that were stored without their list of links.
pub const GRAPH_MARKDOWN: &str = "The page tree is complete. Other links come from the Markdown of the pages, which omits navigation; request the links format to draw all of them.";
/// Error code of unreadable text in the JSON tab.
pub const JSON_ERROR_CODE: &str = "NO_JSON";
/// JSON that is not an object.
pub const JSON_NOT_AN_OBJECT: &str = "The body must be a JSON object";
/// After the parse error of the JSON tab.
pub const JSON_NOT_SENT: &str = "The request was not sent.";
/// Actions: help.
pub const ACTIONS_HELP: &str =
    "Actions run in this order after the page has loaded and before its content is read.";
/// Note below a snippet of a form without a subject.
pub const SNIPPET_EXAMPLE: &str = "An example; complete the form to see your request.";
/// New key: no name.
pub const KEY_NEEDS_NAME: &str = "Enter a name, so that you can recognize the key later.";
/// Job that cannot be shown: link to the activity screen.
pub const VIEW_ACTIVITY: &str = "View recent activity";
