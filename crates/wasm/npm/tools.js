// Functions that need no server.
import * as glue from './glue.js';
import { guarded, ValidationError } from './failure.js';

const bytesOf = (body) => (typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body));

/** Converts a page to GitHub-flavored Markdown, as the server does. */
export const htmlToMarkdown = (html, options) => guarded(() => glue.htmlToMarkdown(html, options));

/** Removes everything but the content from the HTML of a page, as the server does. */
export const cleanHtml = (html, options) => guarded(() => glue.cleanHtml(html, options));

/** Returns every link of a page: absolute, without fragment and duplicates. */
export const extractLinks = (html, options) => guarded(() => glue.extractLinks(html, options));

/** Returns title, description, language, Open Graph and all other metadata. */
export const extractMetadata = (html, options) => guarded(() => glue.extractMetadata(html, options));

/** Returns the normal form of a URL. A crawl treats URLs with the same form as one page. */
export const normalizeUrl = (url, options) => guarded(() => glue.normalizeUrl(String(url), options));

/** Returns `{ pages, sitemaps }` of a sitemap fetched from `url`. */
export const parseSitemap = (body, { url }) => guarded(() => glue.parseSitemap(bytesOf(body), String(url)));

/** Returns the value of the signature header for a body. */
export const signWebhook = ({ body, secret }) => glue.signWebhook(secret, bytesOf(body));

/** Returns the event of a webhook, or throws if its signature is invalid. `body` must be the bytes as received. */
export function verifyWebhook({ body, signature, secret }) {
  const bytes = bytesOf(body);
  if (!glue.checkWebhook(secret, bytes, String(signature ?? ''))) {
    throw new ValidationError({ code: 'BAD_SIGNATURE', message: 'The signature does not match the body: it was made with another secret, or the body was changed in transit.' });
  }
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** A robots.txt. */
export class Robots {
  #rules;
  constructor(text) {
    this.#rules = new glue.Robots(text);
  }
  /** Returns `{ allowed, rule?, line?, crawlDelay?, sitemaps }` for a URL and the product token of a crawler. */
  check(url, agent = '*') {
    return guarded(() => this.#rules.check(String(url), agent));
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.#rules.free();
  }
}

/** The scope rules of a crawl request. */
export class Scope {
  #rules;
  constructor(request) {
    this.#rules = guarded(() => new glue.Scope(request));
  }
  /** Returns `{ included, reason? }` for a link at a discovery depth. */
  check(url, { depth = 1 } = {}) {
    return guarded(() => this.#rules.check(String(url), depth));
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.#rules.free();
  }
}
