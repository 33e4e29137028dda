// Types of the package. The names of options follow the API; a test of the crate compares them with the models.

/** What may be given with every call. */
export interface CallOptions {
  signal?: AbortSignal;
}

export interface Settings {
  /** Else HARVESTMAN_API_KEY, else FIRECRAWL_API_KEY. None for a server in open mode. */
  apiKey?: string;
  /** Else HARVESTMAN_API_URL, else FIRECRAWL_API_URL, else http://localhost:3002. */
  apiUrl?: string;
  /** Repetitions of a call that failed for a passing reason and can be repeated without harm; 2. */
  maxRetries?: number;
  /** Longest time for one answer; none. */
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

/** How a page is fetched and what is made of it. */
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

/** What belongs to a crawl, and how fast it goes. */
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

/** What is made of each page of a batch, and where they go. */
export interface BatchScrapeOptions extends ScrapeOptions {
  webhook?: string | Webhook;
  /** A batch scrape that these pages are added to; one that has ended runs again. */
  appendToId?: string;
  /** Leave out what is no address instead of refusing everything; true. */
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

/** A page; only what was asked for is there. */
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
  /** Crawl: pages attempted (fetched, in flight and queued). Batch scrape: pages given. */
  total: number;
  completed: number;
  creditsUsed: number;
  expiresAt?: string;
  createdAt?: string;
  completedAt?: string;
  /** Seconds. */
  duration?: number;
  /** Address of the rest; null when the job has ended and this was all. */
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
  /** Called with new numbers; `data` is empty. */
  onProgress?: (progress: JobProgress) => void;
}

export interface WaitOptions extends PagesOptions {
  /** Longest time to wait for the end; then a JobTimeoutError, while the job goes on. */
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
  /** Every document once, in order of completion, as soon as it is ready; ends when the job has ended. */
  pages(options?: PagesOptions): AsyncGenerator<Document, void, void>;
  /** Waits for the end: the final status with all documents. */
  wait(options?: WaitOptions): Promise<JobResult>;
  status(options?: StatusOptions): Promise<JobProgress>;
  errors(options?: CallOptions): Promise<JobErrors>;
  cancel(options?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
}

/** A crawl on the server. */
export declare class CrawlJob extends Job {}

/** A batch scrape on the server. */
export declare class BatchScrapeJob extends Job {
  /** What was among the addresses and is none. */
  readonly invalidURLs: string[];
}

/** Which addresses of a site are listed, and in which order. */
export interface MapOptions {
  /** Orders by relevance to this; nothing is left out. */
  search?: string;
  sitemap?: 'skip' | 'include' | 'only';
  /** true */
  includeSubdomains?: boolean;
  /** Leaves out addresses with a query; true. */
  ignoreQueryParameters?: boolean;
  /** Sitemaps are kept for up to 7 days otherwise. */
  ignoreCache?: boolean;
  /** 1 to 100000; 5000. */
  limit?: number;
  /** Milliseconds; none. */
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

/** The API of one server for one key. */
export declare class Harvestman {
  /** A bare string is the key. */
  constructor(settings?: Settings | string);
  readonly apiUrl: string;
  scrape(url: string, options?: ScrapeRequest, call?: CallOptions): Promise<Document>;
  /** A page scraped earlier, by `metadata.scrapeId`. */
  getScrape(id: string, call?: CallOptions): Promise<Document>;
  /** Starts a crawl and gives its job without waiting. */
  startCrawl(url: string, options?: CrawlOptions, call?: CallOptions): Promise<CrawlJob>;
  /** The job of a crawl that was started elsewhere. */
  job(id: string): CrawlJob;
  /** Crawls and waits: the final status with all documents. */
  crawl(url: string, options?: CrawlOptions & WaitOptions, call?: WaitOptions): Promise<JobResult>;
  getCrawlStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  cancelCrawl(id: string, call?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
  getCrawlErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  getActiveCrawls(call?: CallOptions): Promise<ActiveCrawl[]>;
  /** Starts a batch scrape of these pages and gives its job without waiting; with `appendToId` they are added to one. */
  startBatchScrape(urls: string[], options?: BatchScrapeOptions, call?: CallOptions): Promise<BatchScrapeJob>;
  /** The job of a batch scrape that was started elsewhere. */
  batchScrapeJob(id: string): BatchScrapeJob;
  /** Scrapes these pages and waits: the final status with all documents. */
  batchScrape(urls: string[], options?: BatchScrapeOptions & WaitOptions, call?: WaitOptions): Promise<JobResult>;
  getBatchScrapeStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  cancelBatchScrape(id: string, call?: CallOptions): Promise<{ success: boolean; status: JobStatus }>;
  getBatchScrapeErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  /** The addresses of a site, best first. */
  map(url: string, options?: MapOptions, call?: CallOptions): Promise<MapResult>;
}

export default Harvestman;

/** Anything that this package throws, except an abort, which is thrown as it is. */
export declare class HarvestmanError extends Error {
  readonly status?: number;
  readonly code?: string;
  readonly details?: unknown;
  readonly jobId?: string;
}
/** A request that the server refuses, or that was refused before it was sent. */
export declare class ValidationError extends HarvestmanError {}
/** The key is missing or unknown. */
export declare class AuthError extends HarvestmanError {}
/** Not enough credits. */
export declare class PaymentRequiredError extends HarvestmanError {}
/** Too many requests, even after repeating. */
export declare class RateLimitError extends HarvestmanError {
  readonly retryAfterMs: number;
}
/** No answer, or one that is not of this API. */
export declare class NetworkError extends HarvestmanError {}
/** The job did not end in the time that it was waited for; it goes on. */
export declare class JobTimeoutError extends HarvestmanError {}

export interface PageOptions {
  /** Where the page came from; without it relative links are left out. */
  url?: string;
  onlyMainContent?: boolean;
  includeTags?: string[];
  excludeTags?: string[];
  removeBase64Images?: boolean;
}

/** GitHub-flavoured Markdown of a page, as the server makes it. */
export declare function htmlToMarkdown(html: string, options?: PageOptions): string;
/** The HTML of a page without what is no content, as the server makes it. */
export declare function cleanHtml(html: string, options?: PageOptions): string;
/** Every link of a page, absolute, without fragment, each once. */
export declare function extractLinks(html: string, options?: PageOptions): string[];
/** Title, description, language, Open Graph and all other metadata. */
export declare function extractMetadata(html: string, options?: PageOptions): Metadata;

/** Two addresses with the same normal form are one page of a crawl. */
export declare function normalizeUrl(
  url: string | URL,
  options?: { ignoreQueryParameters?: boolean; deduplicateSimilarURLs?: boolean },
): string;

/** A sitemap or an index of sitemaps that came from `url`; throws if it is neither. */
export declare function parseSitemap(
  body: string | Uint8Array | ArrayBuffer,
  options: { url: string | URL },
): { pages: string[]; sitemaps: string[] };

/** A robots.txt. */
export declare class Robots {
  constructor(text: string);
  /**
   * For an address and the product token of a crawler: the rule that decided as it stands in the file, with its line
   * from 1, unless none is about the address; the delay is in seconds.
   */
  check(
    url: string | URL,
    agent?: string,
  ): { allowed: boolean; rule?: string; line?: number; crawlDelay?: number; sitemaps: string[] };
}

/** The scope rules of a crawl request. */
export declare class Scope {
  constructor(request: CrawlOptions & { url: string });
  /** For a link at a discovery depth; a link on the start page has depth 1. */
  check(url: string | URL, options?: { depth?: number }): { included: boolean; reason?: string };
}

/** Value of the signature header for a body. */
export declare function signWebhook(webhook: { body: string | Uint8Array | ArrayBuffer; secret: string }): string;
/** The event of a webhook, if its signature is right; throws otherwise. `body` must be the bytes as received. */
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
