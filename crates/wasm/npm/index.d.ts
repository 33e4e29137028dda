// Types of the package. Those of requests are in requests.d.ts.

import type { BatchScrapeOptions, CrawlOptions, CrawlRequest, MapOptions, ScrapeRequest } from './requests.js';

export * from './requests.js';

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
  constructor(request: CrawlRequest);
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
