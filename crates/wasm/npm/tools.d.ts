// Types of the functions that need no server.

import type { Body, Metadata, Url } from './index.js';
import type { CrawlOptions } from './requests.js';

export interface PageOptions {
  /** URL of the page; without it, relative links are dropped. */
  url?: string;
  onlyMainContent?: boolean;
  includeTags?: string[];
  excludeTags?: string[];
  removeBase64Images?: boolean;
  /** Value of the header, to decode bytes. */
  contentType?: string;
}

/** Converts a page to GitHub-flavored Markdown, as the server does. */
export declare function htmlToMarkdown(html: Body, options?: PageOptions): string;
/** Removes everything but the content from the HTML of a page, as the server does. */
export declare function cleanHtml(html: Body, options?: PageOptions): string;
/** Returns every link of a page: absolute, without fragment and duplicates. */
export declare function extractLinks(html: Body, options?: PageOptions): string[];
/** Returns title, description, language, Open Graph and all other metadata. */
export declare function extractMetadata(html: Body, options?: PageOptions): Metadata;

/** Returns the normal form of a URL. A crawl treats URLs with the same form as one page. */
export declare function normalizeUrl(url: Url, options?: { ignoreQueryParameters?: boolean; deduplicateSimilarURLs?: boolean }): string;

/** Parses a sitemap or sitemap index fetched from `url`; throws if it is neither. */
export declare function parseSitemap(body: Body, options: { url: Url }): { pages: string[]; sitemaps: string[] };

declare class Owned {
  /** Frees the memory of this object at once. Without it, the memory is freed some time after the last reference. */
  free(): void;
  [Symbol.dispose](): void;
}

/** A robots.txt. */
export declare class Robots extends Owned {
  constructor(text: Body);
  /**
   * Checks a URL for the product token of a crawler. `rule` is the deciding rule as written in the file, `line` its
   * line number from 1, unless no rule applies. `crawlDelay` is in seconds.
   */
  check(url: Url, agent?: string): { allowed: boolean; rule?: string; line?: number; crawlDelay?: number; sitemaps: string[] };
}

/** The scope rules of a crawl request. */
export declare class Scope extends Owned {
  constructor(request: CrawlOptions & { url: string });
  /** Checks a link found at a discovery depth. A link on the start page has depth 1. */
  check(url: Url, options?: { depth?: number }): { included: boolean; reason?: string };
}

/** Returns the value of the signature header for a body. */
export declare function signWebhook(webhook: { body: Body; secret: Body }): string;
/** Returns the event of a webhook, or throws if its signature is invalid. `body` must be the bytes as received. */
export declare function verifyWebhook(webhook: { body: Body; signature: string | null | undefined; secret: Body }): WebhookEvent;

export interface WebhookEvent {
  success: boolean;
  type: string;
  id: string;
  data: any[];
  metadata?: Record<string, any>;
  error?: string;
  [name: string]: any;
}

/** An element as named in a prompt. `ref` is its reference in the snapshot; null if it is not there. */
export interface PlannedElement {
  name: string;
  kind?: 'button' | 'link' | 'field' | 'checkbox' | 'list' | 'option' | 'tab' | 'item' | 'image' | 'heading';
  /** Its index among several: 0 for the first, -1 for the last. */
  nth?: number;
  ref?: string | null;
}
/** A step of a prompt, with what it does in words. */
export type PlannedStep = { description: string } & (
  | { action: 'open'; url: string }
  | { action: 'back' | 'forward' | 'reload' | 'submit' | 'waitForPage' | 'screenshot' }
  | { action: 'click'; element: PlannedElement; times: number }
  | { action: 'hover' | 'check' | 'uncheck'; element: PlannedElement }
  | { action: 'type' | 'search' | 'waitFor'; text: string }
  | { action: 'fill'; text: string; element: PlannedElement }
  | { action: 'press'; key: string; times: number }
  | { action: 'select'; option: string; element?: PlannedElement }
  | { action: 'scroll'; x?: number; y?: number; windows?: number; to?: 'top' | 'bottom'; element?: PlannedElement }
  | { action: 'wait'; milliseconds: number }
  | { action: 'read'; target?: 'page' | 'title' | 'url'; words?: string }
);
/** Parses a prompt of plain steps, as the server does without a language model. Throws if a clause is not a step. */
export declare function planSteps(prompt: string, snapshot?: string): PlannedStep[];
/** Derives crawl options from a prompt, as the server does without a language model. */
export declare function planCrawl(prompt: string, url: Url): CrawlOptions & { url: string; warning?: string };
