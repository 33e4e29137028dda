// Types of the crawl without a server.

import type { Document, Fetch, Signal, Url } from './index.js';
import type { CrawlOptions, ScrapeOptions } from './requests.js';

/** Scrape options that apply without a server. */
export type LocalScrapeOptions = Pick<ScrapeOptions, 'formats' | 'onlyMainContent' | 'onlyCleanContent' | 'includeTags' | 'excludeTags' | 'headers' | 'timeout' | 'removeBase64Images'>;

export interface LocalCrawlerOptions
  extends Pick<
    CrawlOptions,
    | 'allowExternalLinks' | 'allowSubdomains' | 'crawlEntireDomain' | 'deduplicateSimilarURLs' | 'delay' | 'excludePaths' | 'ignoreQueryParameters'
    | 'ignoreRobotsTxt' | 'includePaths' | 'limit' | 'maxConcurrency' | 'maxDiscoveryDepth' | 'regexOnFullURL' | 'robotsUserAgent' | 'sitemap'
  > {
  /** Where the crawl starts. Not needed with a snapshot. */
  url?: Url;
  scrapeOptions?: LocalScrapeOptions;
  /** Default: the global `fetch`. */
  fetch?: Fetch;
  /** Header of every request, where the runtime allows it; its first word is the product token for robots.txt. */
  userAgent?: string;
  /** Decides about each URL before it is fetched, also of redirects where the runtime shows them. */
  allowUrl?: (url: string) => boolean | Promise<boolean>;
  /** Larger pages fail. Default: 50 MiB. */
  maxBodyBytes?: number;
  /** Continue an earlier crawl. Options that are given again win. */
  snapshot?: CrawlSnapshot;
}

/** State of a crawl as plain data, for JSON or structured clone. */
export interface CrawlSnapshot {
  version: 1;
  request: Record<string, any>;
  state?: string;
  counts: LocalCounts;
  pending: Document[];
}

export interface LocalCounts {
  status: 'scraping' | 'completed' | 'failed';
  error?: string | null;
  total: number;
  completed: number;
  failed: number;
  queued: number;
  inFlight: number;
  known: number;
  robotsBlocked: number;
  warnings?: string[];
}

/** A crawl without a server: the server's rules and documents on this runtime's `fetch`. */
export declare class LocalCrawler {
  constructor(options: LocalCrawlerOptions);
  readonly counts: LocalCounts;
  /** Yields a document for each page as soon as it is ready. A run that ended early is continued by the next one. */
  run(options?: {
    signal?: Signal;
    onProgress?: (counts: LocalCounts) => void;
    /** Called for each page that could not be fetched. */
    onError?: (error: { id: string; url: string; code: string; error: string }) => void;
  }): AsyncGenerator<Document, void, void>;
  /** Stops fetching. The iteration ends after the documents that are ready. */
  stop(): void;
  /** Returns the state of the crawl. Pages in flight are fetched again. */
  snapshot(): CrawlSnapshot;
}
