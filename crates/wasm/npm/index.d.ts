// Types of the package. Option names follow the API; a test of the crate compares them with the models.

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal;
}

export interface Settings {
  /** Default: HARVESTMAN_API_KEY, then FIRECRAWL_API_KEY. Not needed for a server in open mode. */
  apiKey?: string;
  /** Default: HARVESTMAN_API_URL, then FIRECRAWL_API_URL, then http://localhost:3002. */
  apiUrl?: string;
  /** Maximum retries after a transient failure if a retry is safe. Default: 2. */
  maxRetries?: number;
  /** Timeout for one response. Default: none. */
  timeoutMs?: number;
}

export type Format =
  | 'markdown' | 'html' | 'rawHtml' | 'links' | 'images' | 'screenshot' | 'summary' | 'changeTracking' | 'branding'
  | { type: 'markdown' | 'html' | 'rawHtml' | 'links' | 'images' | 'summary' | 'branding' }
  | { type: 'screenshot'; fullPage?: boolean; quality?: number; viewport?: { width: number; height: number } }
  | { type: 'json'; schema?: object; prompt?: string }
  | { type: 'changeTracking'; modes?: ('git-diff' | 'json')[]; schema?: object; prompt?: string; tag?: string | null }
  | { type: 'attributes'; selectors: { selector: string; attribute: string }[] }
  | { type: 'question'; question: string }
  | { type: 'highlights'; query: string }
  | { type: 'query'; prompt: string; mode?: 'freeform' | 'directQuote' };

export type Action =
  | { type: 'wait'; milliseconds: number }
  | { type: 'wait'; selector: string }
  | { type: 'click'; selector: string; all?: boolean }
  | { type: 'write'; text: string }
  | { type: 'press'; key: string }
  | { type: 'scroll'; direction?: 'up' | 'down'; selector?: string }
  | { type: 'screenshot'; fullPage?: boolean; quality?: number; viewport?: { width: number; height: number } }
  | { type: 'scrape' }
  | { type: 'executeJavascript'; script: string }
  | { type: 'pdf'; format?: string; landscape?: boolean; scale?: number };

export type Parser =
  | 'pdf' | 'image'
  | { type: 'pdf'; mode?: 'fast' | 'auto' | 'ocr'; maxPages?: number; pages?: boolean; blocks?: boolean; pageMarkers?: boolean }
  | { type: 'image' };

/** How a page is fetched, and which formats are returned. */
export interface ScrapeOptions {
  formats?: Format[];
  onlyMainContent?: boolean;
  onlyCleanContent?: boolean;
  includeTags?: string[];
  excludeTags?: string[];
  /** Milliseconds. */
  maxAge?: number;
  /** Milliseconds. */
  minAge?: number;
  headers?: Record<string, string>;
  /** Milliseconds. */
  waitFor?: number;
  mobile?: boolean;
  skipTlsVerification?: boolean;
  /** Milliseconds. */
  timeout?: number;
  parsers?: Parser[];
  actions?: Action[];
  location?: { country?: string; languages?: string[] };
  removeBase64Images?: boolean;
  blockAds?: boolean;
  proxy?: 'auto' | 'basic' | 'enhanced' | 'stealth';
  storeInCache?: boolean;
  lockdown?: boolean;
  profile?: { name: string; saveChanges?: boolean };
  redactPII?: boolean | { mode?: 'accurate' | 'aggressive' | 'fast'; entities?: string[]; replaceStyle?: 'tag' | 'mask' | 'remove' };
}

export interface ScrapeRequest extends ScrapeOptions {
  zeroDataRetention?: boolean;
}

export interface Webhook {
  url: string;
  headers?: Record<string, string>;
  metadata?: Record<string, unknown>;
  events?: string[];
}

/** Scope and pace of a crawl. */
export interface CrawlOptions {
  prompt?: string;
  excludePaths?: string[];
  includePaths?: string[];
  maxDiscoveryDepth?: number;
  sitemap?: 'skip' | 'include' | 'only';
  ignoreQueryParameters?: boolean;
  deduplicateSimilarURLs?: boolean;
  regexOnFullURL?: boolean;
  limit?: number;
  crawlEntireDomain?: boolean;
  allowExternalLinks?: boolean;
  allowSubdomains?: boolean;
  ignoreRobotsTxt?: boolean;
  robotsUserAgent?: string;
  /** Seconds. */
  delay?: number;
  maxConcurrency?: number;
  webhook?: string | Webhook;
  scrapeOptions?: ScrapeOptions;
  zeroDataRetention?: boolean;
}

/** Options of a batch scrape. */
export interface BatchScrapeOptions extends ScrapeOptions {
  webhook?: string | Webhook;
  /** Id of a batch scrape to which the pages are added. One that has ended runs again. */
  appendToId?: string;
  /** Skip invalid URLs instead of rejecting the request. Default: true. */
  ignoreInvalidURLs?: boolean;
  maxConcurrency?: number;
  zeroDataRetention?: boolean;
}

export interface Metadata {
  title?: string;
  description?: string;
  language?: string;
  keywords?: string;
  ogLocaleAlternate?: string[];
  ogTitle?: string;
  ogDescription?: string;
  ogUrl?: string;
  ogImage?: string;
  favicon?: string;
  sourceURL?: string;
  url?: string;
  statusCode?: number;
  error?: string;
  scrapeId?: string;
  contentType?: string;
  creditsUsed?: number;
  numPages?: number;
  totalPages?: number;
  [name: string]: unknown;
}

/** A page, with only the requested formats. */
export interface Document {
  markdown?: string;
  html?: string;
  rawHtml?: string;
  links?: string[];
  images?: string[];
  screenshot?: string;
  json?: unknown;
  summary?: string;
  answer?: string;
  highlights?: string;
  attributes?: { selector: string; attribute: string; values: string[] }[];
  changeTracking?: Record<string, unknown>;
  branding?: Record<string, unknown>;
  actions?: Record<string, unknown>;
  warning?: string;
  metadata: Metadata;
}

export type JobStatus = 'scraping' | 'completed' | 'failed' | 'cancelled';

export interface JobProgress {
  success: boolean;
  status: JobStatus;
  /** Crawl: pages attempted (fetched, in flight and queued). Batch scrape: pages in the list. */
  total: number;
  completed: number;
  creditsUsed: number;
  expiresAt?: string;
  createdAt?: string;
  completedAt?: string;
  /** Seconds. */
  duration?: number;
  /** URL of the next chunk; null when the job has ended and this was the last one. */
  next: string | null;
  warning?: string;
  error?: string;
  data: Document[];
}

export interface JobResult extends JobProgress {
  id: string;
}

export interface JobErrors {
  success: boolean;
  errors: { id: string; timestamp?: string; url: string; code?: string; error: string }[];
  robotsBlocked: string[];
}

export interface ActiveCrawl {
  id: string;
  teamId: string;
  url: string;
  options: Record<string, unknown>;
}

export interface PagesOptions extends CallOptions {
  /** Called when the progress changes; `data` is empty. */
  onProgress?: (progress: JobProgress) => void;
}

export interface WaitOptions extends PagesOptions {
  /** Timeout for the end of the job. Then throws a JobTimeoutError, while the job continues on the server. */
  timeoutMs?: number;
}

export interface StatusOptions extends CallOptions {
  skip?: number;
  limit?: number;
}

declare class Job {
  protected constructor();
  readonly id: string;
  readonly url: string;
  /** Yields every document once, in order of completion, as soon as it is ready, until the job has ended. */
  pages(options?: PagesOptions): AsyncGenerator<Document, void, void>;
  /** Waits until the job has ended and returns the final status with all documents. */
  wait(options?: WaitOptions): Promise<JobResult>;
  status(options?: StatusOptions): Promise<JobProgress>;
  errors(options?: CallOptions): Promise<JobErrors>;
  cancel(options?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
}

/** A crawl on the server. */
export declare class CrawlJob extends Job {}

/** A batch scrape on the server. */
export declare class BatchScrapeJob extends Job {
  /** The entries of the list that are not valid URLs. */
  readonly invalidURLs: string[];
}

/** Which URLs of a site are listed, and in which order. */
export interface MapOptions {
  /** Sorts by relevance to this text; no URL is dropped. */
  search?: string;
  sitemap?: 'skip' | 'include' | 'only';
  /** Default: true. */
  includeSubdomains?: boolean;
  /** Drops URLs with a query. Default: true. */
  ignoreQueryParameters?: boolean;
  /** Ignores cached sitemaps, which are up to 7 days old. */
  ignoreCache?: boolean;
  /** 1 to 100000. Default: 5000. */
  limit?: number;
  /** Milliseconds. Default: none. */
  timeout?: number;
  location?: { country?: string; languages?: string[] };
  includePaths?: string[];
  excludePaths?: string[];
  regexOnFullURL?: boolean;
  headers?: Record<string, string>;
}

export interface MapLink {
  url: string;
  title?: string;
  description?: string;
}

export interface MapResult {
  links: MapLink[];
  warning?: string;
}

/** A client of one server with one key. */
export declare class Harvestman {
  /** A string is taken as the API key. */
  constructor(settings?: Settings | string);
  readonly apiUrl: string;
  scrape(url: string, options?: ScrapeRequest, call?: CallOptions): Promise<Document>;
  /** Returns an earlier scrape, by `metadata.scrapeId`. */
  getScrape(id: string, call?: CallOptions): Promise<Document>;
  /** Starts a crawl and returns its job without waiting. */
  startCrawl(url: string, options?: CrawlOptions, call?: CallOptions): Promise<CrawlJob>;
  /** Returns the job of a crawl that was started elsewhere. */
  job(id: string): CrawlJob;
  /** Crawls, waits, and returns the final status with all documents. */
  crawl(url: string, options?: CrawlOptions & WaitOptions, call?: WaitOptions): Promise<JobResult>;
  getCrawlStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  cancelCrawl(id: string, call?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
  getCrawlErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  getActiveCrawls(call?: CallOptions): Promise<ActiveCrawl[]>;
  /** Starts a batch scrape and returns its job without waiting. `appendToId` adds the pages to an existing one. */
  startBatchScrape(urls: string[], options?: BatchScrapeOptions, call?: CallOptions): Promise<BatchScrapeJob>;
  /** Returns the job of a batch scrape that was started elsewhere. */
  batchScrapeJob(id: string): BatchScrapeJob;
  /** Scrapes a list of pages, waits, and returns the final status with all documents. */
  batchScrape(urls: string[], options?: BatchScrapeOptions & WaitOptions, call?: WaitOptions): Promise<JobResult>;
  getBatchScrapeStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  cancelBatchScrape(id: string, call?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
  getBatchScrapeErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  /** Lists the URLs of a site, best first. */
  map(url: string, options?: MapOptions, call?: CallOptions): Promise<MapResult>;
}

export default Harvestman;

/** Base class of everything that this package throws, except an abort, which is rethrown unchanged. */
export declare class HarvestmanError extends Error {
  readonly status?: number;
  readonly code?: string;
  readonly details?: unknown;
  readonly jobId?: string;
}
/** The request is invalid. It was rejected by the server or before it was sent. */
export declare class ValidationError extends HarvestmanError {}
/** The key is missing or unknown. */
export declare class AuthError extends HarvestmanError {}
/** Not enough credits. */
export declare class PaymentRequiredError extends HarvestmanError {}
/** Rate limited, even after retries. */
export declare class RateLimitError extends HarvestmanError {
  readonly retryAfterMs: number;
}
/** No response, or a response that is not from this API. */
export declare class NetworkError extends HarvestmanError {}
/** The job did not end within the timeout; it continues on the server. */
export declare class JobTimeoutError extends HarvestmanError {}

export interface PageOptions {
  /** URL of the page; without it, relative links are dropped. */
  url?: string;
  onlyMainContent?: boolean;
  includeTags?: string[];
  excludeTags?: string[];
  removeBase64Images?: boolean;
}

/** Converts a page to GitHub-flavored Markdown, as the server does. */
export declare function htmlToMarkdown(html: string, options?: PageOptions): string;
/** Removes everything but the content from the HTML of a page, as the server does. */
export declare function cleanHtml(html: string, options?: PageOptions): string;
/** Returns every link of a page: absolute, without fragment and duplicates. */
export declare function extractLinks(html: string, options?: PageOptions): string[];
/** Returns title, description, language, Open Graph and all other metadata. */
export declare function extractMetadata(html: string, options?: PageOptions): Metadata;

/** Returns the normal form of a URL. A crawl treats URLs with the same form as one page. */
export declare function normalizeUrl(
  url: string | URL,
  options?: { ignoreQueryParameters?: boolean; deduplicateSimilarURLs?: boolean },
): string;

/** Parses a sitemap or sitemap index fetched from `url`; throws if it is neither. */
export declare function parseSitemap(
  body: string | Uint8Array | ArrayBuffer,
  options: { url: string | URL },
): { pages: string[]; sitemaps: string[] };

/** A robots.txt. */
export declare class Robots {
  constructor(text: string);
  /**
   * Checks a URL for the product token of a crawler. `rule` is the deciding rule as written in the file, `line` its
   * line number from 1, unless no rule applies. `crawlDelay` is in seconds.
   */
  check(
    url: string | URL,
    agent?: string,
  ): { allowed: boolean; rule?: string; line?: number; crawlDelay?: number; sitemaps: string[] };
}

/** The scope rules of a crawl request. */
export declare class Scope {
  constructor(request: CrawlOptions & { url: string });
  /** Checks a link found at a discovery depth. A link on the start page has depth 1. */
  check(url: string | URL, options?: { depth?: number }): { included: boolean; reason?: string };
}

/** Returns the value of the signature header for a body. */
export declare function signWebhook(webhook: { body: string | Uint8Array | ArrayBuffer; secret: string }): string;
/** Returns the event of a webhook, or throws if its signature is invalid. `body` must be the bytes as received. */
export declare function verifyWebhook(webhook: {
  body: string | Uint8Array | ArrayBuffer;
  signature: string | null | undefined;
  secret: string;
}): WebhookEvent;

export interface WebhookEvent {
  success: boolean;
  type: string;
  id: string;
  data: unknown[];
  metadata?: Record<string, unknown>;
  error?: string;
  [name: string]: unknown;
}
