// Bodies of requests, and the objects in them.

// Generated from the field tables: begin

/** A format without options. */
export interface PlainFormat {
  /** Name of the format. */
  type: 'markdown' | 'html' | 'rawHtml' | 'links' | 'images' | 'summary' | 'branding' | 'product' | 'menu'
    | 'rawBase64';
}

/** Size of a browser window. */
export interface Viewport {
  /** Width. Unit: CSS pixels. Range: 1 to 7680. */
  width: number;
  /** Height. Unit: CSS pixels. Range: 1 to 4320. */
  height: number;
}

/** A picture of the page; also an action. */
export interface ScreenshotFormat {
  type: 'screenshot';
  /** Capture the whole page rather than the viewport. Default: false. */
  fullPage?: boolean;
  /** JPEG quality; without it the picture is a PNG. Range: 1 to 100. */
  quality?: number;
  /** Size of the browser window. */
  viewport?: Viewport;
}

/** Data extracted with a schema, a prompt, or both; at least one is required. */
export interface JsonFormat {
  type: 'json';
  /** What to extract, in words. */
  prompt?: string;
  /** JSON Schema of the data. */
  schema?: object;
}

/** Comparison with the last scrape of the same URL, team and tag. */
export interface ChangeTrackingFormat {
  type: 'changeTracking';
  /** How changes are reported. Empty: only whether there are any. */
  modes?: ('git-diff' | 'json')[];
  /** JSON Schema of the `json` mode. */
  schema?: object;
  /** Prompt of the `json` mode. */
  prompt?: string;
  /** Name of a separate history. */
  tag?: string;
}

/** One selector of the `attributes` format. */
export interface AttributeSelector {
  /** CSS selector of the elements. */
  selector: string;
  /** Name of the attribute. */
  attribute: string;
}

export interface AttributesFormat {
  type: 'attributes';
  /** Elements and attributes to return. */
  selectors: AttributeSelector[];
}

export interface QuestionFormat {
  type: 'question';
  /** What to answer from the page. */
  question: string;
}

export interface HighlightsFormat {
  type: 'highlights';
  /** What the passages are about. */
  query: string;
}

export interface QueryFormat {
  type: 'query';
  /** What to answer or to look for. */
  prompt: string;
  /** Whether to answer or to quote. Default: freeform. */
  mode?: 'freeform' | 'directQuote';
}

/** Part of a page to return: a name, or an object with `type`. */
export type Format =
  | 'markdown' | 'html' | 'rawHtml' | 'links' | 'images' | 'screenshot' | 'summary' | 'changeTracking'
  | 'branding' | 'product' | 'menu' | 'rawBase64' | PlainFormat | ScreenshotFormat | JsonFormat
  | ChangeTrackingFormat | AttributesFormat | QuestionFormat | HighlightsFormat | QueryFormat;

export interface WaitTimeAction {
  type: 'wait';
  /** How long to wait. Unit: ms. Range: 1 to 60000. */
  milliseconds: number;
}

export interface WaitForAction {
  type: 'wait';
  /** CSS selector of an element to wait for. */
  selector: string;
}

export interface ClickAction {
  type: 'click';
  /** CSS selector of the element. */
  selector: string;
  /** Click every matching element. Default: false. */
  all?: boolean;
}

export interface WriteAction {
  type: 'write';
  /** Text to type into the focused element. */
  text: string;
}

export interface PressAction {
  type: 'press';
  /** Key by its DOM name: `Enter`, `Control+A`. */
  key: string;
}

export interface ScrollAction {
  type: 'scroll';
  /** Direction to scroll in. Default: down. */
  direction?: 'up' | 'down';
  /** CSS selector of an element to scroll. Empty: the page. */
  selector?: string;
}

export interface ScreenshotAction {
  type: 'screenshot';
  /** Capture the whole page rather than the viewport. Default: false. */
  fullPage?: boolean;
  /** JPEG quality; without it the picture is a PNG. Range: 1 to 100. */
  quality?: number;
  /** Size of the browser window. */
  viewport?: Viewport;
}

export interface ScrapeAction {
  type: 'scrape';
}

export interface ExecuteJavascriptAction {
  type: 'executeJavascript';
  /** JavaScript to run in the page. */
  script: string;
}

export interface PdfAction {
  type: 'pdf';
  /** Paper size. Default: Letter. */
  format?: 'A0' | 'A1' | 'A2' | 'A3' | 'A4' | 'A5' | 'A6' | 'Letter' | 'Legal' | 'Tabloid' | 'Ledger';
  /** Landscape orientation. Default: false. */
  landscape?: boolean;
  /** Scale of the page. Range: 0.1 to 2. Default: 1. */
  scale?: number;
}

/** Step in the browser before the page is read. */
export type Action =
  | WaitTimeAction | WaitForAction | ClickAction | WriteAction | PressAction | ScrollAction | ScreenshotAction
  | ScrapeAction | ExecuteJavascriptAction | PdfAction;

/** Options of the PDF parser. */
export interface PdfParser {
  type: 'pdf';
  /** How the text is read. Default: auto. */
  mode?: 'fast' | 'auto' | 'ocr';
  /** Maximum number of pages to convert. Unit: pages. Range: 1 to 10000. Default: all. */
  maxPages?: number;
  /** Return each page separately too. Default: false. */
  pages?: boolean;
  /** Return the blocks of each page. Default: false. */
  blocks?: boolean;
  /** Mark the beginning of each page in the Markdown. Default: false. */
  pageMarkers?: boolean;
}

export interface ImageParser {
  type: 'image';
}

/** How a kind of document is converted. */
export type Parser = 'pdf' | 'image' | PdfParser | ImageParser;

/** Country and languages of the visitor. */
export interface Location {
  /** Country of the visitor, ISO 3166-1 alpha-2. Default: US. */
  country?: string;
  /** Languages of the visitor in order of preference, BCP 47. Empty: the language of the country. */
  languages?: string[];
}

/** A browser profile: cookies and storage that are kept under a name. */
export interface Profile {
  /** Name of the profile. */
  name: string;
  /** Save changes to the profile when the page or session ends. Default: true. */
  saveChanges?: boolean;
}

/** What `redactPII` removes. */
export interface RedactPii {
  /** How carefully personal data is searched for. Default: accurate. */
  mode?: 'accurate' | 'aggressive' | 'fast';
  /** Kinds of personal data to remove. Default: all. */
  entities?: ('PERSON' | 'EMAIL' | 'PHONE' | 'LOCATION' | 'FINANCIAL' | 'SECRET')[];
  /** What replaces the personal data. Default: tag. */
  replaceStyle?: 'tag' | 'mask' | 'remove';
}

/** How a page is fetched, and which parts of it are returned. */
export interface ScrapeOptions {
  /**
   * Parts of the page to return, each type once: names or objects with `type`. Empty: metadata only. Default:
   * ["markdown"].
   */
  formats?: Format[];
  /** Return only the main content, without navigation, headers and footers. Default: true. */
  onlyMainContent?: boolean;
  /** Remove leftovers such as share bars from the Markdown in a second pass. Default: false. */
  onlyCleanContent?: boolean;
  /** CSS selectors; only matching elements are kept. */
  includeTags?: string[];
  /** CSS selectors; matching elements are removed. */
  excludeTags?: string[];
  /**
   * Accept a cached copy up to this age; 0 always fetches. Unit: ms. Default: 2 days. Ignored with
   * `changeTracking`.
   */
  maxAge?: number;
  /** Use only the cache, with a copy of at least this age. Unit: ms. */
  minAge?: number;
  /** Request headers for the site. */
  headers?: Record<string, string>;
  /**
   * Extra wait after the page has loaded, in the browser; at most half of `timeout`. Unit: ms. Range: 0 to
   * 60000. Default: 0.
   */
  waitFor?: number;
  /** Use the viewport and user agent of a phone. Default: false. */
  mobile?: boolean;
  /** Accept invalid TLS certificates. Default: true, or false when headers or actions are sent. */
  skipTlsVerification?: boolean;
  /** Time limit of the whole scrape, queueing included. Unit: ms. Range: 1000 to 300000. Default: 60000. */
  timeout?: number;
  /**
   * Parsers of documents: names or objects with `type`. Empty: documents are returned as base64. Default:
   * ["pdf"].
   */
  parsers?: Parser[];
  /** Browser actions between loading the page and reading it. */
  actions?: Action[];
  /** Country and languages of the visitor. */
  location?: Location;
  /** Replace `data:` images in Markdown with a placeholder. Default: true. */
  removeBase64Images?: boolean;
  /** Block advertisements, trackers and consent banners. Default: true. */
  blockAds?: boolean;
  /** Fetch the page over HTTP only, even if its content seems to need a browser. Default: false. */
  fastMode?: boolean;
  /**
   * Class of the operator's proxies; `auto` changes to `enhanced` if the site blocks `basic`. Default: auto.
   */
  proxy?: 'basic' | 'enhanced' | 'stealth' | 'auto';
  /** Store the page in the cache. Default: true. */
  storeInCache?: boolean;
  /** Never contact the site; use only the cache. Default: false. */
  lockdown?: boolean;
  /** Browser profile whose cookies and storage are used. */
  profile?: Profile;
  /** Replace personal data in every text: true, or an object with `mode`, `entities` and `replaceStyle`. */
  redactPII?: boolean | RedactPii;
}

/** Body of `POST /v2/scrape` without `url`. */
export interface ScrapeRequest extends ScrapeOptions {
  /** Store nothing once the response is sent. The operator must enable it. Default: false. */
  zeroDataRetention?: boolean;
}

export interface CrawlWebhook {
  /** URL that receives a POST for each event. */
  url: string;
  /** Request headers of each delivery; the signature header cannot be replaced. */
  headers?: Record<string, string>;
  /** Any JSON object; repeated in each delivery. */
  metadata?: object;
  /** Events to deliver. Empty: all. */
  events?: ('started' | 'page' | 'completed' | 'failed')[];
}

/** Body of `POST /v2/crawl` without `url`. */
export interface CrawlOptions {
  /** Description of the crawl in words; explicit options take precedence. */
  prompt?: string;
  /** Regular expressions; matching paths are skipped. */
  excludePaths?: string[];
  /** Regular expressions; only matching paths are crawled. Empty: all. */
  includePaths?: string[];
  /** Links away from the start; 0 is the start page and the pages of sitemaps. Default: unlimited. */
  maxDiscoveryDepth?: number;
  /** Whether to crawl the pages that the site's sitemaps list. Default: include. */
  sitemap?: 'skip' | 'include' | 'only';
  /** Treat URLs that differ only by their query as one page. Default: false. */
  ignoreQueryParameters?: boolean;
  /**
   * Treat URLs that differ only by `www.`, scheme, trailing slash or index file as one page. Default: true.
   */
  deduplicateSimilarURLs?: boolean;
  /** Match path patterns against the whole URL. Default: false. */
  regexOnFullURL?: boolean;
  /** Maximum number of pages. Unit: pages. Range: at least 1. Default: 10000. */
  limit?: number;
  /** Also crawl pages of the same host that are not below the path of the start URL. Default: false. */
  crawlEntireDomain?: boolean;
  /** Crawl pages of other sites that are linked to; their own links are not followed. Default: false. */
  allowExternalLinks?: boolean;
  /** Crawl every host below the same registrable domain. Default: false. */
  allowSubdomains?: boolean;
  /** Ignore robots.txt. The operator must enable it. Default: false. */
  ignoreRobotsTxt?: boolean;
  /** Product token to match in robots.txt. The operator must enable it. */
  robotsUserAgent?: string;
  /** Pause between the starts of two requests to a host. Unit: seconds. Range: above 0, at most 60. */
  delay?: number;
  /** Maximum number of pages in flight. Unit: pages. Range: at least 1. Default: the team's limit. */
  maxConcurrency?: number;
  /** Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`. */
  webhook?: string | CrawlWebhook;
  /** How each page is fetched, and which parts of it are returned. */
  scrapeOptions?: ScrapeOptions;
  /** Delete all content once it is delivered. The operator must enable it. Default: false. */
  zeroDataRetention?: boolean;
}

/** Body of `POST /v2/crawl`. */
export interface CrawlRequest extends CrawlOptions {
  /** URL where the crawl starts. */
  url: string;
}

export interface BatchScrapeWebhook {
  /** URL that receives a POST for each event. */
  url: string;
  /** Request headers of each delivery; the signature header cannot be replaced. */
  headers?: Record<string, string>;
  /** Any JSON object; repeated in each delivery. */
  metadata?: object;
  /** Events to deliver. Empty: all. */
  events?: ('started' | 'page' | 'completed' | 'failed')[];
}

/** Body of `POST /v2/batch/scrape` without `urls`. */
export interface BatchScrapeOptions extends ScrapeOptions {
  /** Add the pages to this batch instead of starting one. */
  appendToId?: string;
  /** Skip invalid URLs in `urls` instead of refusing the request. Default: true. */
  ignoreInvalidURLs?: boolean;
  /** Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`. */
  webhook?: string | BatchScrapeWebhook;
  /** Maximum number of pages in flight. Unit: pages. Range: at least 1. Default: the team's limit. */
  maxConcurrency?: number;
  /** Delete all content once it is delivered. The operator must enable it. Default: false. */
  zeroDataRetention?: boolean;
}

/** Body of `POST /v2/batch/scrape`. */
export interface BatchScrapeRequest extends BatchScrapeOptions {
  /** URLs of the pages; duplicates are scraped once. */
  urls: string[];
}

/** Body of `POST /v2/map` without `url`. */
export interface MapOptions {
  /** Sort the URLs by relevance to these words. */
  search?: string;
  /** Whether to list the URLs of the site's sitemaps. Default: include. */
  sitemap?: 'skip' | 'include' | 'only';
  /** List URLs of subdomains too. Default: true. */
  includeSubdomains?: boolean;
  /** Leave out URLs with a query. Default: true. */
  ignoreQueryParameters?: boolean;
  /** List only URLs at or below the path of `url`. Default: false. */
  filterByPath?: boolean;
  /** Treat URLs that differ only by `www.`, scheme, trailing slash or index file as one. Default: true. */
  deduplicateSimilarURLs?: boolean;
  /** List the URLs of the team's cached pages too. Default: true. */
  useIndex?: boolean;
  /** Fetch sitemaps even if a cached copy exists. Default: false. */
  ignoreCache?: boolean;
  /** Maximum number of URLs. Unit: URLs. Range: 1 to 100000. Default: 5000. */
  limit?: number;
  /** Time limit of the whole request. Unit: ms. Range: at least 1. Default: none. */
  timeout?: number;
  /** Country and languages of the visitor. */
  location?: Location;
  /** Regular expressions; only matching paths are listed. Empty: all. */
  includePaths?: string[];
  /** Regular expressions; matching paths are left out. */
  excludePaths?: string[];
  /** Match path patterns against the whole URL. Default: false. */
  regexOnFullURL?: boolean;
  /** Request headers for the site. */
  headers?: Record<string, string>;
}

/** Body of `POST /v2/map`. */
export interface MapRequest extends MapOptions {
  /** URL of the site. */
  url: string;
}

/** Source of search results. */
export interface SearchSource {
  /** Name of the source. */
  type: 'web' | 'news' | 'images';
  /** Time filter of this source. */
  tbs?: string;
  /** Place of the search in this source, in words. */
  location?: string;
}

/** Body of `POST /v2/search`. */
export interface SearchRequest {
  /** What to search for. */
  query: string;
  /** Maximum number of results per source. Unit: results. Range: 1 to 100. Default: 10. */
  limit?: number;
  /** Sources to search, each once: names or objects with `type`. Default: ["web"]. */
  sources?: ('web' | 'news' | 'images' | SearchSource)[];
  /** Return only results of these categories: names or objects with `type`. Empty: all. */
  categories?: ('github' | 'research' | 'pdf' | 'developer' | 'gov')[];
  /** Return only results from these hosts. Empty: all. */
  includeDomains?: string[];
  /** Leave out results from these hosts. */
  excludeDomains?: string[];
  /** Time filter: `qdr:d` (last day), `qdr:w`, `qdr:m`, `qdr:y`, or a range with `cdr:1`. */
  tbs?: string;
  /** Place of the search, in words. */
  location?: string;
  /** Country of the search, ISO 3166-1 alpha-2. Default: US. */
  country?: string;
  /** Leave out adult content. Default: the provider's. */
  safe?: boolean;
  /** Time limit of the whole request. Unit: ms. Range: 1 to 300000. Default: 60000. */
  timeout?: number;
  /** Leave out results with invalid URLs. Default: false. */
  ignoreInvalidURLs?: boolean;
  /** Describe each result by the passage that fits the query best. Default: true. */
  highlights?: boolean;
  /** Scrape each web and news result with these options. */
  scrapeOptions?: ScrapeOptions;
}

/** The model that extracts. */
export interface ExtractAgent {
  /** Name of the model. */
  model?: string;
}

export interface ExtractWebhook {
  /** URL that receives a POST for each event. */
  url: string;
  /** Request headers of each delivery; the signature header cannot be replaced. */
  headers?: Record<string, string>;
  /** Any JSON object; repeated in each delivery. */
  metadata?: object;
  /** Events to deliver. Empty: all. */
  events?: ('started' | 'completed' | 'failed')[];
}

/** Body of `POST /v2/extract`. */
export interface ExtractRequest {
  /**
   * URLs to extract from; `/*` at the end means the site below. Without URLs, a search for the prompt finds
   * pages.
   */
  urls?: string[];
  /** What to extract, in words. */
  prompt?: string;
  /** JSON Schema of the data to extract. */
  schema?: object;
  /** Instructions for the model. */
  systemPrompt?: string;
  /** Follow links to other hosts too. Default: false. */
  allowExternalLinks?: boolean;
  /** Search the web for more pages. Default: false. */
  enableWebSearch?: boolean;
  /** Include subdomains of the sites. Default: true. */
  includeSubdomains?: boolean;
  /** Do not read sitemaps. Default: false. */
  ignoreSitemap?: boolean;
  /** Return the source of each value. Default: false. */
  showSources?: boolean;
  /** Skip invalid URLs in `urls` instead of refusing the request. Default: true. */
  ignoreInvalidURLs?: boolean;
  /** Maximum number of pages. Unit: pages. Range: at least 1. Default: 20. */
  limit?: number;
  /** Time limit of the whole job. Unit: ms. Range: at least 1. Default: 30 minutes. */
  timeout?: number;
  /** How pages are fetched. */
  scrapeOptions?: ScrapeOptions;
  /**
   * The model that extracts: an object with `model`. A model other than the operator's has no effect; the
   * result then has a `warning`.
   */
  agent?: ExtractAgent;
  /** Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`. */
  webhook?: string | ExtractWebhook;
  /** Return the URLs that were visited. Default: false. */
  urlTrace?: boolean;
}

export interface AgentWebhook {
  /** URL that receives a POST for each event. */
  url: string;
  /** Request headers of each delivery; the signature header cannot be replaced. */
  headers?: Record<string, string>;
  /** Any JSON object; repeated in each delivery. */
  metadata?: object;
  /** Events to deliver. Empty: all. */
  events?: ('started' | 'action' | 'completed' | 'failed' | 'cancelled')[];
}

/** Body of `POST /v2/agent`. */
export interface AgentRequest {
  /** The task, in words. */
  prompt: string;
  /** URLs to look at first. */
  urls?: string[];
  /** JSON Schema of the result. */
  schema?: object;
  /** Maximum number of credits that the agent spends. Unit: credits. Range: at least 1. Default: 2500. */
  maxCredits?: number;
  /** Open only the pages in `urls`. Default: false. */
  strictConstrainToURLs?: boolean;
  /** Name of the model. A model other than the operator's has no effect; the result then has a `warning`. */
  model?: string;
  /** How much work the agent puts into the task. Default: `medium`. */
  effort?: 'low' | 'medium' | 'high';
  /** Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`. */
  webhook?: string | AgentWebhook;
  /** Whether to return data or to have a conversation. Default: `extract`. */
  mode?: 'extract' | 'chat';
  /** `threadId` of the conversation to continue; all of its runs must have ended. */
  threadId?: string;
  /** Country and languages of the visitor. */
  location?: Location;
  /** Delete all content once it is delivered. The operator must enable it. Default: false. */
  zeroDataRetention?: boolean;
}

/** Schedule of a monitor: exactly one of `cron` and `text`. */
export interface Schedule {
  /** Cron expression with five fields; checks must be at least five minutes apart. */
  cron?: string;
  /** The schedule in words: `every 30 minutes`, `hourly`, `daily at 9:00`. */
  text?: string;
  /** Time zone by its IANA name. Default: UTC. */
  timezone?: string;
}

export interface ScrapeTarget {
  type: 'scrape';
  /** URLs of the pages. */
  urls: string[];
  /** How each page is fetched. */
  scrapeOptions?: ScrapeOptions;
  /** Id of the target. Default: `target-1` and so on. */
  id?: string;
}

export interface AuditMetadata {
  /** Name of the user in the caller's system. */
  username?: string;
}

export interface CrawlTarget {
  type: 'crawl';
  /** URL where the crawl starts. */
  url: string;
  /** Options of the crawl. */
  crawlOptions?: CrawlOptions;
  /** How each page is fetched. */
  scrapeOptions?: ScrapeOptions;
  /** Id of the target. Default: `target-1` and so on. */
  id?: string;
}

export interface SearchTarget {
  type: 'search';
  /** Search queries. */
  queries: string[];
  /** Age of the results. Default: 24h. */
  searchWindow?: '5m' | '15m' | '1h' | '6h' | '24h' | '7d';
  /** Results per query. Range: 1 to 50. Default: 10. */
  maxResults?: number;
  /** Return only results from these hosts. */
  includeDomains?: string[];
  /** Leave out results from these hosts. */
  excludeDomains?: string[];
  /** Id of the target. Default: `target-1` and so on. */
  id?: string;
}

export interface MonitorWebhook {
  /** URL that receives a POST for each event. */
  url: string;
  /** Request headers of each delivery; the signature header cannot be replaced. */
  headers?: Record<string, string>;
  /** Any JSON object; repeated in each delivery. */
  metadata?: object;
  /** Events to deliver. Empty: all. */
  events?: ('monitor.page' | 'monitor.check.completed')[];
}

/** Body of `POST /v2/monitor`. */
export interface MonitorRequest {
  /** Name of the monitor. */
  name: string;
  /** When the monitor runs: an object with `cron` or `text`. */
  schedule: Schedule;
  /** What the monitor checks. */
  targets: (ScrapeTarget | CrawlTarget | SearchTarget)[];
  /** Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`. */
  webhook?: string | MonitorWebhook;
  /** Notification settings, stored as sent. */
  notification?: object;
  /** How long checks are kept. Unit: days. Range: 1 to 365. Default: 30. */
  retentionDays?: number;
  /** The changes that matter, in words. */
  goal?: string;
  /** Judge changes by the goal. */
  judgeEnabled?: boolean;
}

/** Body of `PATCH /v2/monitor/{id}`. */
export interface MonitorChange {
  /** New name. */
  name?: string;
  /** New schedule: an object with `cron` or `text`. */
  schedule?: Schedule;
  /** New targets. */
  targets?: (ScrapeTarget | CrawlTarget | SearchTarget)[];
  /** New receiver of events; null removes it. */
  webhook?: string | MonitorWebhook | null;
  /** New notification settings; null removes them. */
  notification?: object | null;
  /** How long checks are kept. Unit: days. Range: 1 to 365. */
  retentionDays?: number;
  /** The changes that matter, in words; null removes the goal. */
  goal?: string | null;
  /** Judge changes by the goal. */
  judgeEnabled?: boolean;
  /** Run or pause the monitor. */
  status?: 'active' | 'paused';
}

/** Body of `POST /v2/browser`. */
export interface BrowserRequest {
  /** Lifetime of the session. Unit: seconds. Range: 30 to 3600. Default: 300. */
  ttl?: number;
  /** Idle time after which the session ends. Unit: seconds. Range: 10 to 3600. Default: its lifetime. */
  activityTtl?: number;
  /** Offer live views. Default: true. */
  streamWebView?: boolean;
  /** Block requests to advertisers and trackers. Default: true. */
  blockAds?: boolean;
  /** Browser profile whose cookies and storage are used. */
  profile?: Profile;
  /** Country and languages of the visitor. */
  location?: Location;
}

/** Body of `POST /v2/browser/{id}/execute`. */
export interface ExecuteRequest {
  /** Code to run; `page` is the page of the session. */
  code: string;
  /** Language of the code. Default: node. */
  language?: 'python' | 'node' | 'bash';
  /** Time limit of the execution. Unit: seconds. Range: 1 to 300. Default: 30. */
  timeout?: number;
}

/** Body of `POST /v2/scrape/{jobId}/interact`. */
export interface InteractRequest {
  /** Code to run; `page` is the page of the session. */
  code?: string;
  /** Language of the code. Default: node. */
  language?: 'python' | 'node' | 'bash';
  /** What to do, in words. */
  prompt?: string;
  /** Time limit of the execution. Unit: seconds. Range: 1 to 300. Default: 30. */
  timeout?: number;
  /** Lifetime of a session that this request creates. Unit: seconds. Range: 30 to 3600. Default: 600. */
  ttl?: number;
  /**
   * Idle time after which a session that this request creates ends. Unit: seconds. Range: 10 to 3600.
   * Default: 300.
   */
  activityTtl?: number;
  /** Session to use instead of creating one. */
  existingSessionId?: string;
}

/** Event of a job: its short name, or its full name such as `crawl.page`. */
export type WebhookEventName = `${string}.${string}`;

// Generated from the field tables: end

/** Receiver of the events of a crawl or a batch scrape. */
export type Webhook = CrawlWebhook | BatchScrapeWebhook;
