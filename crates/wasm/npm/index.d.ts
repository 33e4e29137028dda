// Types of the package. Those of requests are in requests.d.ts. They need no DOM types.
/// <reference lib="es2022" />
/// <reference lib="esnext.disposable" />

import type {
  AgentRequest, BatchScrapeOptions, BrowserRequest, CrawlOptions, ExecuteRequest, ExtractRequest, InteractRequest, MapOptions,
  MonitorChange, MonitorRequest, ScrapeOptions, ScrapeRequest, SearchRequest,
} from './requests.js';

export * from './local.js';
export * from './requests.js';
export * from './tools.js';

/** The class of this name, if the runtime's types have it. */
type Global<Name extends string> = typeof globalThis extends Record<Name, abstract new (...args: any) => infer Type> ? Type : never;
export type Url = string | Global<'URL'>;
/** Bytes, or text as UTF-8. */
export type Body = string | ArrayBuffer | ArrayBufferView;

/** What is used of an AbortSignal. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: any;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What is used of `fetch`. */
export type Fetch = (url: string, init: any) => Promise<any>;

/** Options of every call. */
export interface CallOptions {
  signal?: Signal;
}

export interface Settings {
  /** Default: HARVESTMAN_API_KEY, then FIRECRAWL_API_KEY. Not needed for a server in open mode. */
  apiKey?: string | null;
  /** Default: HARVESTMAN_API_URL, then FIRECRAWL_API_URL, then http://localhost:3002. */
  apiUrl?: string | null;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: Fetch;
  /** Headers of every request. */
  headers?: Record<string, string>;
  /** Maximum retries after a transient failure if a retry is safe. Default: 2. */
  maxRetries?: number;
  /** Factor of the pauses between retries. Default: 1. */
  backoffFactor?: number;
  /** Timeout for one response, also while pages are awaited. A longer `Retry-After` is not waited for. Default: none. */
  timeoutMs?: number;
}

/** A schema of Zod, Valibot or another library (https://standardschema.dev). */
export interface StandardSchema<Input = unknown> {
  readonly '~standard': { readonly version: 1; readonly vendor: string; readonly types?: { readonly input: Input; readonly output: unknown } | undefined };
}
/** Type of the data that a schema describes; unknown for JSON Schema. */
export type DataOf<Schema> = Schema extends StandardSchema<infer Input> ? Input : unknown;
type JsonOf<Formats> = Formats extends readonly (infer Format)[] ? (Format extends { type: 'json'; schema: infer Schema } ? DataOf<Schema> : never) : never;
/** Type of `json` in the documents of a scrape with these options. */
export type JsonResult<Options> = Options extends { formats: infer Formats } ? ([JsonOf<Formats>] extends [never] ? unknown : JsonOf<Formats>) : unknown;

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
  ocrPages?: number;
  consentBanner?: "answered" | "hidden" | "removed";
  blockedRequests?: number;
  totalPages?: number;
  [name: string]: any;
}

/** A page, with only the requested formats. */
export interface Document<Json = unknown> {
  markdown?: string;
  html?: string;
  rawHtml?: string;
  links?: string[];
  images?: string[];
  screenshot?: string;
  json?: Json;
  summary?: string;
  answer?: string;
  highlights?: string;
  attributes?: { selector: string; attribute: string; values: string[] }[];
  changeTracking?: Record<string, any>;
  branding?: Record<string, any>;
  product?: Record<string, any>;
  menu?: Record<string, any>;
  rawBase64?: string;
  actions?: Record<string, any>;
  warning?: string;
  metadata: Metadata;
  [name: string]: any;
}

export type JobStatus = 'scraping' | 'completed' | 'failed' | 'cancelled';

/** Status of a crawl or batch scrape. */
export interface JobProgress<Json = unknown> {
  id: string;
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
  data: Document<Json>[];
  [name: string]: any;
}
/** Final status of a job with all documents. */
export type JobResult<Json = unknown> = JobProgress<Json>;

export interface JobErrors {
  success: boolean;
  errors: { id: string; timestamp?: string; url: string; code?: string; error: string }[];
  robotsBlocked: string[];
}

export interface PagesOptions extends CallOptions {
  /** Called when the progress changes; `data` is empty. */
  onProgress?: (progress: JobProgress) => void;
  /** Timeout for the end of the job. Then throws a JobTimeoutError, while the job continues on the server. */
  timeoutMs?: number;
  /** Pause between requests that return nothing new; at least 500 ms. */
  pollMs?: number;
}

/** Options of calls that wait for a job. When such a call is aborted, it cancels its job. */
export interface WaitOptions extends PagesOptions {
  /** `pollMs` in seconds. */
  pollInterval?: number;
  /** `timeoutMs` in seconds. */
  timeout?: number;
}

export interface StatusOptions extends CallOptions {
  /** Return one chunk of documents from here. */
  skip?: number;
  /** Return one chunk of at most as many documents. */
  limit?: number;
  /** Follow `next` to all documents so far. Default: true without `skip` and `limit`. */
  autoPaginate?: boolean;
  maxPages?: number;
  maxResults?: number;
  /** Seconds. */
  maxWaitTime?: number;
}

declare class Job<Json = unknown> {
  protected constructor();
  readonly id: string;
  readonly url: string;
  /** Yields every document once, in order of completion, as soon as it is ready, until the job has ended. */
  pages(options?: PagesOptions): AsyncGenerator<Document<Json>, Omit<JobProgress, 'data'>, void>;
  /** Waits until the job has ended and returns the final status with all documents. */
  wait(options?: PagesOptions): Promise<JobResult<Json>>;
  /** Returns the progress and the documents from `skip`, as many as fit into one response. */
  status(options?: StatusOptions): Promise<JobProgress<Json>>;
  /** Returns the failed pages and the URLs blocked by robots.txt. */
  errors(options?: CallOptions): Promise<JobErrors>;
  /** Cancels the job; its documents stay readable. Returns whether it is cancelled. */
  cancel(options?: CallOptions): Promise<boolean>;
}

/** A crawl on the server. */
export declare class CrawlJob<Json = unknown> extends Job<Json> {}

/** A batch scrape on the server. */
export declare class BatchScrapeJob<Json = unknown> extends Job<Json> {
  /** The entries of the list that are not valid URLs. */
  readonly invalidURLs: string[];
}

/** Status of an extract or agent, with its result once there is one. */
export interface RunStatus<Data = unknown> {
  id: string;
  success: boolean;
  status: 'processing' | 'completed' | 'failed' | 'cancelled';
  data?: Data;
  error?: string;
  expiresAt?: string;
  creditsUsed?: number;
  [name: string]: any;
}

export interface RunWaitOptions<Data = unknown> extends CallOptions {
  onProgress?: (status: RunStatus<Data>) => void;
  timeoutMs?: number;
  pollMs?: number;
  /** `pollMs` in seconds. */
  pollInterval?: number;
  /** `timeoutMs` in seconds. */
  timeout?: number;
}

declare class Run<Data = unknown> {
  protected constructor();
  readonly id: string;
  readonly success: boolean;
  status(options?: CallOptions): Promise<RunStatus<Data>>;
  /** Waits until the run has ended and returns its status with the result. */
  wait(options?: RunWaitOptions<Data>): Promise<RunStatus<Data>>;
  /** Returns whether the server accepted it. */
  cancel(options?: CallOptions): Promise<boolean>;
}
/** An extract on the server. */
export declare class ExtractJob<Data = unknown> extends Run<Data> {}
/** An agent on the server. */
export declare class AgentJob<Data = unknown> extends Run<Data> {}

/** A monitor with its schedule and targets. */
export interface Monitor {
  id: string;
  name: string;
  status: 'active' | 'paused' | 'deleted';
  schedule: { cron: string; timezone: string };
  nextRunAt?: string;
  lastRunAt?: string;
  currentCheckId?: string;
  targets: Record<string, any>[];
  retentionDays: number;
  lastCheckSummary?: MonitorSummary;
  goal?: string;
  [name: string]: any;
}
/** Page counts of a check. */
export interface MonitorSummary {
  totalPages: number;
  same: number;
  changed: number;
  new: number;
  removed: number;
  error: number;
}
/** One run of a monitor. */
export interface MonitorCheck {
  id: string;
  monitorId: string;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'partial' | 'skipped_overlap' | 'skipped_no_credits';
  trigger: 'scheduled' | 'manual';
  summary: MonitorSummary;
  error?: string;
  [name: string]: any;
}
/** A page of a check. */
export interface MonitorPage {
  id: string;
  targetId: string;
  url: string;
  status: 'same' | 'new' | 'changed' | 'removed' | 'error';
  diff?: { text?: string; json?: any };
  judgment?: { meaningful: boolean; confidence: 'high' | 'medium' | 'low'; reason: string; meaningfulChanges: Record<string, any>[]; fields: string[] };
  [name: string]: any;
}

export interface MapLink {
  url: string;
  title?: string;
  description?: string;
  [name: string]: any;
}
export interface MapResult {
  id?: string;
  links: MapLink[];
  warning?: string;
  [name: string]: any;
}

/** A result; with `scrapeOptions`, also a document. */
export interface SearchResult extends Partial<Document> {
  url: string;
  title?: string;
  description?: string;
  snippet?: string;
  position?: number;
}
export interface SearchData {
  web?: SearchResult[];
  news?: SearchResult[];
  images?: SearchResult[];
  warning?: string;
  [name: string]: any;
}

/** A file to convert: a File, or data with a name. */
export type ParseFile =
  | Global<'File'>
  | {
      data: Body | Global<'Blob'> | Global<'ReadableStream'> | AsyncIterable<Uint8Array | string>;
      /** Default: the name of `data`, if it is a File. */
      filename?: string;
      contentType?: string;
    };
export type ParseOptions = Pick<ScrapeOptions, Exclude<keyof ScrapeOptions, 'actions' | 'location' | 'lockdown' | 'maxAge' | 'minAge' | 'mobile' | 'profile' | 'storeInCache' | 'waitFor'>> & Pick<ScrapeRequest, 'zeroDataRetention'>;

/** Result of code or a prompt in a browser session. */
export interface ExecuteResult {
  success: boolean;
  result?: string;
  stdout?: string;
  stderr?: string;
  output?: string;
  exitCode?: number;
  killed?: boolean;
  error?: string;
  liveViewUrl?: string;
  interactiveLiveViewUrl?: string;
  cdpUrl?: string;
  [name: string]: any;
}
/** A file that was sent to an `uploadUrl`. */
export interface UploadReference {
  uploadRef: string;
}

export interface UploadUrl extends UploadReference {
  uploadUrl: string;
  method: string;
  headers: Record<string, string>;
  expiresAt: string;
  maxSizeBytes: number;
}

export interface SessionFile {
  origin: 'download' | 'upload';
  name: string;
  contentType: string;
  sizeBytes: number;
  /** URL of the content; absent if there is none. */
  url?: string;
  /** Path of an upload for code of the session. */
  path?: string;
  sourceUrl?: string;
  /** Why there is no content. */
  error?: string;
  createdAt: string;
}

export interface SessionEnded {
  success: boolean;
  sessionDurationMs?: number;
  creditsBilled?: number;
  [name: string]: any;
}

/** The browser session of a scrape. The first run opens it. */
export declare class Interaction {
  private constructor();
  readonly scrapeId: string;
  /** Runs code in the session, by default for Node.js. */
  run(code: string, options?: Omit<InteractRequest, 'code' | 'prompt'>, call?: CallOptions): Promise<ExecuteResult>;
  /** Lets the server act on the page as the prompt says. */
  prompt(prompt: string, options?: Omit<InteractRequest, 'code' | 'prompt'>, call?: CallOptions): Promise<ExecuteResult>;
  /** Ends the session. */
  stop(call?: CallOptions): Promise<SessionEnded>;
  /** Ends the session if it was opened and still lives. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BrowserSession {
  success: boolean;
  id: string;
  cdpUrl: string;
  liveViewUrl: string;
  interactiveLiveViewUrl: string;
  expiresAt: string;
  [name: string]: any;
}

export interface Usage {
  billingPeriodStart: string | null;
  billingPeriodEnd: string | null;
  [name: string]: any;
}
export interface UsageHistory {
  success: boolean;
  periods: Record<string, any>[];
  [name: string]: any;
}
/** A request of the team in the last 24 hours. */
export interface ActivityEntry {
  id: string;
  endpoint: string;
  api_version: string;
  created_at: string;
  target: string | null;
  [name: string]: any;
}

/** Emits the progress of a job, for code written for firecrawl-js. */
export declare class Watcher {
  private constructor();
  on(event: 'document' | 'snapshot' | 'done' | 'error', listener: (value: any) => void): this;
  once(event: 'document' | 'snapshot' | 'done' | 'error', listener: (value: any) => void): this;
  off(event: string, listener: (value: any) => void): this;
  start(): Promise<void>;
  close(): void;
}

/** Key that makes a repeated start return the first job. Default: a random one, so that retries are safe. */
interface Idempotent {
  idempotencyKey?: string;
}
/** Scrape options may be nested, as in firecrawl-js; then `timeout` is that of waiting, in seconds. */
type Batch = BatchScrapeOptions & Idempotent & { options?: ScrapeOptions };
type Typed<Options> = Omit<Options, 'schema'> & { schema?: object };

/** A client of one server with one key. */
export declare class Harvestman {
  /** A string is taken as the API key. */
  constructor(settings?: Settings | string);
  readonly apiUrl: string;

  /** Scrapes a page and returns its document. */
  scrape<const Options extends ScrapeRequest>(url: Url, options?: Options, call?: CallOptions): Promise<Document<JsonResult<Options>>>;
  /** Returns an earlier scrape, by `metadata.scrapeId`. */
  getScrape(id: string, call?: CallOptions): Promise<Document>;
  /** Converts a file, or one that was uploaded by URL. */
  parse<const Options extends ParseOptions>(file: ParseFile | UploadReference, options?: Options, call?: CallOptions): Promise<Document<JsonResult<Options>>>;
  /** Returns a URL that takes a file without a key, and a reference to the file for one later request. */
  createUploadUrl(options: { filename: string; contentType?: string; declaredSizeBytes?: number }, call?: CallOptions): Promise<UploadUrl>;
  /** Lists the file types that `parse` converts. */
  parseFormats(call?: CallOptions): Promise<Record<string, any>>;

  /** Runs code or a prompt in the browser session of a scrape; the first call opens it. */
  interact(scrapeId: string, options: InteractRequest, call?: CallOptions): Promise<ExecuteResult>;
  /** Ends the browser session of a scrape. */
  stopInteraction(scrapeId: string, call?: CallOptions): Promise<SessionEnded>;
  /** Returns the browser session of a scrape as an object, which ends it on disposal. */
  interaction(scrapeId: string): Interaction;

  /** Starts a crawl and returns its job without waiting. */
  startCrawl(url: Url, options?: CrawlOptions & Idempotent, call?: CallOptions): Promise<CrawlJob>;
  /** Returns the job of a crawl that was started elsewhere. */
  job(id: string): CrawlJob;
  /** Crawls, waits, and returns the final status with all documents. */
  crawl(url: Url, options?: CrawlOptions & Idempotent & WaitOptions, call?: WaitOptions): Promise<JobResult>;
  /** Returns the progress of a crawl with the documents so far. */
  getCrawlStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  /** Returns whether the crawl is cancelled; its documents stay readable. */
  cancelCrawl(id: string, call?: CallOptions): Promise<boolean>;
  getCrawlErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  /** Lists the running crawls of the team, newest first. */
  getActiveCrawls(call?: CallOptions): Promise<{ success: boolean; crawls: { id: string; teamId: string; url: string; options: Record<string, any> }[] }>;
  /** Returns crawl options for a prompt, without starting a crawl. */
  crawlParamsPreview(url: Url, prompt: string, call?: CallOptions): Promise<CrawlOptions & { url: string; warning?: string }>;

  /** Starts a batch scrape and returns its job without waiting. `appendToId` adds the pages to an existing one. */
  startBatchScrape<const Options extends Batch>(urls: readonly Url[], options?: Options, call?: CallOptions): Promise<BatchScrapeJob<JsonResult<Options>>>;
  /** Returns the job of a batch scrape that was started elsewhere. */
  batchScrapeJob(id: string): BatchScrapeJob;
  /** Scrapes a list of pages, waits, and returns the final status with all documents. */
  batchScrape<const Options extends Batch & Omit<WaitOptions, 'timeout'>>(urls: readonly Url[], options?: Options, call?: WaitOptions): Promise<JobResult<JsonResult<Options>>>;
  getBatchScrapeStatus(id: string, options?: StatusOptions): Promise<JobProgress>;
  cancelBatchScrape(id: string, call?: CallOptions): Promise<boolean>;
  getBatchScrapeErrors(id: string, call?: CallOptions): Promise<JobErrors>;
  watcher(id: string, options?: { kind?: 'crawl' | 'batch'; pollInterval?: number; timeout?: number }): Watcher;

  /** Lists the URLs of a site, best first. */
  map(url: Url, options?: MapOptions, call?: CallOptions): Promise<MapResult>;
  /** Searches, and scrapes the results if `scrapeOptions` is given. */
  search(query: string, options?: Omit<SearchRequest, 'query'>, call?: CallOptions): Promise<SearchData>;

  startExtract<const Schema extends object>(options: Typed<ExtractRequest> & Idempotent & { schema?: Schema }, call?: CallOptions): Promise<ExtractJob<DataOf<Schema>>>;
  /** Extracts data from pages and waits for the result. */
  extract<const Schema extends object>(
    options: Typed<ExtractRequest> & Idempotent & RunWaitOptions<DataOf<Schema>> & { schema?: Schema },
    call?: RunWaitOptions<DataOf<Schema>>,
  ): Promise<RunStatus<DataOf<Schema>>>;
  getExtractStatus(id: string, call?: CallOptions): Promise<RunStatus>;
  startAgent<const Schema extends object>(options: Typed<AgentRequest> & Idempotent & { schema?: Schema }, call?: CallOptions): Promise<AgentJob<DataOf<Schema>>>;
  /** Runs an agent and waits for its result. */
  agent<const Schema extends object>(
    options: Typed<AgentRequest> & Idempotent & RunWaitOptions<DataOf<Schema>> & { schema?: Schema },
    call?: RunWaitOptions<DataOf<Schema>>,
  ): Promise<RunStatus<DataOf<Schema>>>;
  getAgentStatus(id: string, call?: CallOptions): Promise<RunStatus>;
  cancelAgent(id: string, call?: CallOptions): Promise<boolean>;
  listAgents(options?: CallOptions & { before?: number }): Promise<Record<string, any>>;

  /** Creates a monitor, which checks pages on a schedule. */
  createMonitor(options: MonitorRequest, call?: CallOptions): Promise<Monitor>;
  listMonitors(options?: CallOptions & { limit?: number; offset?: number }): Promise<Monitor[]>;
  getMonitor(id: string, call?: CallOptions): Promise<Monitor>;
  /** Changes a monitor; absent fields keep their values. */
  updateMonitor(id: string, options: MonitorChange, call?: CallOptions): Promise<Monitor>;
  deleteMonitor(id: string, call?: CallOptions): Promise<boolean>;
  /** Starts a check now. */
  runMonitor(id: string, call?: CallOptions): Promise<MonitorCheck>;
  listMonitorChecks(id: string, options?: CallOptions & { limit?: number; offset?: number; status?: MonitorCheck['status'] }): Promise<MonitorCheck[]>;
  /** Returns a check with all its pages, or with those of one response if `autoPaginate` is false. */
  getMonitorCheck(
    id: string,
    checkId: string,
    options?: CallOptions & { limit?: number; skip?: number; status?: MonitorPage['status']; autoPaginate?: boolean },
  ): Promise<MonitorCheck & { pages: MonitorPage[]; next: string | null }>;

  /** Opens a browser session. */
  browser(options?: BrowserRequest, call?: CallOptions): Promise<BrowserSession>;
  /** Runs code in a browser session, by default for Bash. */
  browserExecute(id: string, options: ExecuteRequest, call?: CallOptions): Promise<ExecuteResult>;
  /** Lets a session live for another `ttl` seconds from now. */
  extendBrowser(id: string, options?: { ttl?: number }, call?: CallOptions): Promise<{ success: boolean; expiresAt: string }>;
  /** Lists what a session downloaded and was given. */
  listBrowserFiles(id: string, call?: CallOptions): Promise<SessionFile[]>;
  /** Gives a file to a session; `path` is where its code finds it. */
  addBrowserFile(id: string, file: ParseFile | UploadReference, call?: CallOptions): Promise<SessionFile>;
  deleteBrowser(id: string, call?: CallOptions): Promise<SessionEnded>;
  listBrowsers(options?: CallOptions & { status?: 'active' | 'destroyed' }): Promise<{ success: boolean; sessions: Record<string, any>[] }>;

  getConcurrency(call?: CallOptions): Promise<{ concurrency: number; maxConcurrency: number }>;
  getCreditUsage(call?: CallOptions): Promise<Usage & { remainingCredits: number; planCredits: number }>;
  getTokenUsage(call?: CallOptions): Promise<Usage & { remainingTokens: number; planTokens: number }>;
  /** Returns the credits by month, and by key if wanted. */
  getCreditUsageHistorical(options?: boolean | (CallOptions & { byApiKey?: boolean }), call?: CallOptions): Promise<UsageHistory>;
  /** Returns the tokens by month, and by key if wanted. */
  getTokenUsageHistorical(options?: boolean | (CallOptions & { byApiKey?: boolean }), call?: CallOptions): Promise<UsageHistory>;
  getQueueStatus(call?: CallOptions): Promise<Record<string, any>>;
  /** Yields the requests of the last 24 hours, newest first. `limit` is the size of a chunk. */
  activity(options?: CallOptions & { endpoint?: string; limit?: number }): AsyncGenerator<ActivityEntry, void, void>;
  /** Answers a question from the server's documentation. */
  docsSearch(question: string, options?: Record<string, any>, call?: CallOptions): Promise<Record<string, any>>;

  // Earlier names of firecrawl-js.
  scrapeUrl: Harvestman['scrape'];
  crawlUrl: Harvestman['crawl'];
  asyncCrawlUrl: Harvestman['startCrawl'];
  checkCrawlStatus: Harvestman['getCrawlStatus'];
  checkCrawlErrors: Harvestman['getCrawlErrors'];
  mapUrl: Harvestman['map'];
  batchScrapeUrls: Harvestman['batchScrape'];
  asyncBatchScrapeUrls: Harvestman['startBatchScrape'];
  checkBatchScrapeStatus: Harvestman['getBatchScrapeStatus'];
  checkBatchScrapeErrors: Harvestman['getBatchScrapeErrors'];
  scrapeExecute: Harvestman['interact'];
  stopInteractiveBrowser: Harvestman['stopInteraction'];
  deleteScrapeBrowser: Harvestman['stopInteraction'];
}

export { Harvestman as default, Harvestman as Firecrawl, Harvestman as FirecrawlClient };

/** Base class of the package's errors. Wrong argument types throw a TypeError; aborts are rethrown unchanged. */
export declare class HarvestmanError extends Error {
  /** Status of the response; 400 for a request that was rejected before it was sent. */
  readonly status?: number;
  readonly code?: string;
  readonly details?: any;
  /** Id of the request in the server's log. */
  readonly requestId?: string;
  readonly jobId?: string;
  readonly retryAfterMs?: number;
}
export { HarvestmanError as SdkError };
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
export declare class JobTimeoutError extends HarvestmanError {
  readonly timeoutSeconds: number;
}

/**
 * Loads harvestman.wasm and pages.wasm, and with `charsets` also charsets.wasm, which converts bytes in other charsets
 * than UTF-8, UTF-16 and windows-1252. Needed only before synchronous functions, and only where files are fetched: in
 * browsers.
 */
export declare function ready(options?: { charsets?: boolean }): Promise<void>;
