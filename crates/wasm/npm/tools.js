// Functions that need no server.
import { charsets } from './charsets.js';
import { expect, options, urlText, ValidationError } from './errors.js';
import { bytesOf } from './files.js';
import { Owned } from './loader.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

const text = (given) => JSON.stringify(options(given));

/** Decodes the bytes of a page as a browser does. */
function decoded(body, type) {
  const isOther = pages.call((glue) => glue.needsCharsets(body, type));
  const bytes = isOther ? charsets.call((glue) => glue.toUtf8(body, type)) : body;
  return pages.call((glue) => glue.decodeHtml(bytes, type));
}

/** Runs a function of the wasm on a page: text, or bytes. */
function onPage(html, given, run) {
  const { contentType, ...rest } = options(given);
  const type = contentType === undefined ? undefined : expect(contentType, 'string', 'contentType');
  const page = typeof html === 'string' ? html : decoded(bytesOf(html, 'html'), type);
  return pages.call((glue) => run(glue, page, text(rest)));
}

export const htmlToMarkdown = (html, given) => onPage(html, given, (glue, page, options) => glue.htmlToMarkdown(page, options));
export const cleanHtml = (html, given) => onPage(html, given, (glue, page, options) => glue.cleanHtml(page, options));
export const extractLinks = (html, given) => onPage(html, given, (glue, page, options) => JSON.parse(glue.extractLinks(page, options)));
export const extractMetadata = (html, given) => onPage(html, given, (glue, page, options) => JSON.parse(glue.extractMetadata(page, options)));

export function normalizeUrl(url, given) {
  const [text1, text2] = [urlText(url), text(given)];
  return wasm.call((glue) => glue.normalizeUrl(text1, text2));
}

export function parseSitemap(body, { url } = {}) {
  const [bytes, base] = [bytesOf(body, 'body'), urlText(url)];
  return JSON.parse(wasm.call((glue) => glue.parseSitemap(bytes, base)));
}

function secretOf(secret) {
  const bytes = bytesOf(secret, 'secret');
  // Without a secret, anyone could sign.
  if (bytes.length === 0) throw new TypeError('secret must not be empty');
  return bytes;
}

export function signWebhook({ body, secret } = {}) {
  const [key, bytes] = [secretOf(secret), bytesOf(body, 'body')];
  return wasm.call((glue) => glue.signWebhook(key, bytes));
}

export function verifyWebhook({ body, signature, secret } = {}) {
  const [key, bytes] = [secretOf(secret), bytesOf(body, 'body')];
  const given = signature === undefined || signature === null ? '' : expect(signature, 'string', 'signature');
  if (!wasm.call((glue) => glue.checkWebhook(key, bytes, given))) {
    throw new ValidationError({ status: 400, code: 'BAD_SIGNATURE', message: 'The signature does not match the body: it was made with another secret, or the body was changed in transit.' });
  }
  return JSON.parse(new TextDecoder().decode(bytes));
}

export function planSteps(prompt, snapshot) {
  const [words, page] = [expect(prompt, 'string', 'prompt'), snapshot === undefined ? undefined : expect(snapshot, 'string', 'snapshot')];
  return JSON.parse(wasm.call((glue) => glue.planSteps(words, page)));
}

export function planCrawl(prompt, url) {
  const { data, warning } = JSON.parse(wasm.call((glue) => glue.planCrawl(JSON.stringify({ url: urlText(url), prompt: expect(prompt, 'string', 'prompt') }))));
  return warning ? { ...data, warning } : data;
}

export class Robots extends Owned {
  constructor(body) {
    const rules = typeof body === 'string' ? body : new TextDecoder().decode(bytesOf(body, 'text'));
    super(wasm, (glue) => new glue.Robots(rules));
  }
  check(url, agent = '*') {
    const [link, token] = [urlText(url), expect(agent, 'string', 'agent')];
    return JSON.parse(this.use((rules) => rules.check(link, token)));
  }
}

export class Scope extends Owned {
  constructor(request) {
    const body = JSON.stringify(expect(request, 'object', 'request'));
    super(wasm, (glue) => new glue.Scope(body));
  }
  check(url, { depth = 1 } = {}) {
    const link = urlText(url);
    if (!Number.isInteger(depth) || depth < 0) throw new TypeError(`depth must be a whole number from 0, not ${String(depth)}`);
    return JSON.parse(this.use((rules) => rules.check(link, depth)));
  }
}
