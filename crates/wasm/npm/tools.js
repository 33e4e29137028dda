// Functions that need no server.
import * as glue from './glue.js';
import { guarded, ValidationError } from './failure.js';

const bytesOf = (body) => (typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body));

/** GitHub-flavoured Markdown of a page, as the server makes it. */
export const htmlToMarkdown = (html, options) => guarded(() => glue.htmlToMarkdown(html, options));

/** The HTML of a page without what is no content, as the server makes it. */
export const cleanHtml = (html, options) => guarded(() => glue.cleanHtml(html, options));

/** Every link of a page, absolute, without fragment, each once. */
export const extractLinks = (html, options) => guarded(() => glue.extractLinks(html, options));

/** Title, description, language, Open Graph and all other metadata. */
export const extractMetadata = (html, options) => guarded(() => glue.extractMetadata(html, options));

/** Two addresses with the same normal form are one page of a crawl. */
export const normalizeUrl = (url, options) => guarded(() => glue.normalizeUrl(String(url), options));

/** `{ pages, sitemaps }` of a sitemap that came from `url`. */
export const parseSitemap = (body, { url }) => guarded(() => glue.parseSitemap(bytesOf(body), String(url)));

/** Value of the signature header for a body. */
export const signWebhook = ({ body, secret }) => glue.signWebhook(secret, bytesOf(body));

/** The event of a webhook, if its signature is right; throws otherwise. `body` must be the bytes as received. */
export function verifyWebhook({ body, signature, secret }) {
  const bytes = bytesOf(body);
  if (!glue.checkWebhook(secret, bytes, String(signature ?? ''))) {
    throw new ValidationError({ code: 'BAD_SIGNATURE', message: 'The signature does not fit the body: it was not signed with this secret, or the body was changed on its way.' });
  }
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** A robots.txt. */
export class Robots {
  #rules;
  constructor(text) {
    this.#rules = new glue.Robots(text);
  }
  /** `{ allowed, rule?, line?, crawlDelay?, sitemaps }` for an address and the product token of a crawler. */
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
  /** `{ included, reason? }` for a link at a discovery depth. */
  check(url, { depth = 1 } = {}) {
    return guarded(() => this.#rules.check(String(url), depth));
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.#rules.free();
  }
}
