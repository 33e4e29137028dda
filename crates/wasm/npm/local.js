// A crawl without a server: the server's state machine on the runtime's `fetch`.
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { expect, options, positive, urlText, ValidationError } from './errors.js';
import { Owned } from './loader.js';
import { pages } from './pages.js';
import { either, headersOf, reason, retryAfter, wait, within } from './transport.js';

const SITE_FILE_MS = 20_000;
// A byte order mark and one byte more than are parsed, so that the parser sees where the file is cut.
const ROBOTS_BYTES = 512 * 1024 + 4;
const SITEMAP_BYTES = 50 * 1024 * 1024;
const PAGE_BYTES = 50 * 1024 * 1024;
const FRAME_BYTES = 4 * 1024 * 1024;
const FRAME_MS = 10_000;
const FRAMES = 8;
const FRAME_DEPTH = 2;
const REDIRECTS = 20;
const ROBOTS_REDIRECTS = 5;
const PAGE_REFRESHES = 10;
const AGENT = 'Harvestman';
const PRIVATE_HEADERS = ['authorization', 'cookie', 'proxy-authorization'];
const SNAPSHOT_VERSION = 1;

/** Why there is no usable response; `code` is one of the API. */
class FetchFailure extends Error {
  constructor(code, message, { transient = false, isReached = true } = {}) {
    super(message);
    Object.assign(this, { code, transient, isReached });
  }
}

export class LocalCrawler {
  #request;
  #state;
  #crawl;
  #pending = [];
  #counts;
  #settings;
  #abort;
  #isStopped = false;

  constructor(given) {
    const { fetch, userAgent, allowUrl, maxBodyBytes, snapshot, ...request } = expect(given, 'object', 'options');
    const before = snapshot === undefined ? undefined : expect(snapshot, 'object', 'snapshot');
    if (before && before.version !== SNAPSHOT_VERSION) throw new ValidationError({ status: 400, code: 'BAD_REQUEST', message: '`snapshot` is not a snapshot of this version' });
    this.#request = { ...before?.request, ...request };
    if (this.#request.url !== undefined) this.#request.url = urlText(this.#request.url);
    this.#state = before?.state;
    this.#pending = [...(before?.pending ?? [])];
    this.#counts = before?.counts;
    if (userAgent !== undefined) headersOf({ 'user-agent': expect(userAgent, 'string', 'userAgent') }, 'userAgent');
    this.#settings = {
      fetch: fetch === undefined ? (...request) => globalThis.fetch(...request) : expect(fetch, 'function', 'fetch'),
      allowUrl: allowUrl === undefined ? () => true : expect(allowUrl, 'function', 'allowUrl'),
      maxBodyBytes: positive(maxBodyBytes, 'maxBodyBytes') ?? PAGE_BYTES,
      userAgent,
    };
  }

  /** Progress of the crawl. */
  get counts() {
    if (this.#crawl) this.#counts = JSON.parse(this.#crawl.use((crawl) => crawl.counts()));
    return this.#counts ?? { status: 'scraping', total: 0, completed: 0, failed: 0, queued: 0, inFlight: 0, known: 0, robotsBlocked: 0 };
  }

  /** Stops fetching. The iteration ends after the documents that are ready. */
  stop() {
    this.#isStopped = true;
    this.#abort?.abort();
  }

  /** Returns the state of the crawl as plain data, from which another crawler continues. */
  snapshot() {
    const state = this.#crawl ? this.#crawl.use((crawl) => crawl.state()) : this.#state;
    return { version: SNAPSHOT_VERSION, request: this.#request, state, counts: this.counts, pending: [...this.#pending] };
  }

  /** Yields a document for each page as soon as it is ready. A run that ended early is continued by the next one. */
  async *run({ signal, onProgress, onError } = {}) {
    if (this.#crawl) throw new TypeError('this crawler is already running');
    await Promise.all([crawls.load(), pages.load()]);
    const product = /^[^/\s]+/.exec(this.#settings.userAgent ?? AGENT)?.[0] ?? AGENT;
    const body = JSON.stringify(this.#request);
    const crawl = new Owned(crawls, (glue) => new glue.LocalCrawl(body, product, this.#state));
    this.#crawl = crawl;
    this.#isStopped = false;
    const abort = (this.#abort = new AbortController());
    let fetcher, reported;
    try {
      fetcher = new Fetcher(crawl, this.#settings, either(abort.signal, signal));
      for (;;) {
        signal?.throwIfAborted();
        const isFinished = !this.#isStopped && fetcher.start();
        this.#pending.push(...crawl.use((crawl) => crawl.documents()).map((text) => JSON.parse(text)));
        const { errors, warnings } = JSON.parse(crawl.use((crawl) => crawl.events()));
        for (const error of errors) onError?.(error);
        const counts = this.counts;
        const now = JSON.stringify(counts);
        if (onProgress && (now !== reported || warnings.length)) onProgress(warnings.length ? { ...counts, warnings } : counts);
        reported = now;
        while (this.#pending.length > 0) {
          const [document] = this.#pending;
          // Removed first, so that a snapshot taken while the consumer works on it no longer contains it.
          this.#pending.shift();
          yield document;
        }
        if (isFinished || this.#isStopped) return;
        await fetcher.event();
      }
    } finally {
      abort.abort();
      this.#state = crawl.use((crawl) => crawl.state());
      this.#counts = this.counts;
      this.#crawl = undefined;
      fetcher?.free();
      crawl.free();
    }
  }
}

/** Does what the crawl asks for, and reports to it. */
class Fetcher {
  #crawl;
  #renderer;
  #settings;
  #signal;
  #headers;
  // For pages whose origin the caller did not name.
  #publicHeaders;
  #timeoutMs;
  #wake;
  #reports = [];

  constructor(crawl, settings, signal) {
    this.#crawl = crawl;
    this.#settings = settings;
    this.#signal = signal;
    const { headers, publicHeaders, timeoutMs, options } = JSON.parse(crawl.use((crawl) => crawl.pageRequest()));
    const sent = (given) => {
      const all = headersOf(given, 'a header');
      if (settings.userAgent && !all.has('user-agent')) all.set('user-agent', settings.userAgent);
      return all;
    };
    this.#headers = sent(headers);
    this.#publicHeaders = sent(publicHeaders);
    this.#timeoutMs = timeoutMs;
    this.#renderer = new Owned(pages, (glue) => new glue.PageRenderer(JSON.stringify(options), { fillSchema: (input) => crawls.call((glue) => glue.fillSchema(input)) }));
  }

  free() {
    this.#renderer.free();
  }

  /** Reports what has arrived and starts what is due. Returns whether the crawl has ended. */
  start() {
    for (const report of this.#reports.splice(0)) this.#crawl.use((crawl) => report(crawl, Date.now()));
    for (;;) {
      const text = this.#crawl.use((crawl) => crawl.next(Date.now()));
      if (text === undefined) return false;
      const action = JSON.parse(text);
      if (action.type === 'finish') return true;
      const work = { robots: this.#robots, sitemap: this.#sitemap, page: this.#page }[action.type];
      work.call(this, action).then((report) => this.#report(report), () => this.#report(() => {}));
    }
  }

  #report(report) {
    this.#reports.push(report);
    this.#wake?.();
  }

  /** Resolves when there is something to report, the crawl wants to be asked again, or it is aborted. */
  async event() {
    if (this.#reports.length > 0) return;
    const at = this.#crawl.use((crawl) => crawl.wakeAt());
    const idle = new AbortController();
    await new Promise((resolve) => {
      this.#wake = resolve;
      this.#signal.addEventListener('abort', resolve, { once: true, signal: idle.signal });
      if (this.#signal.aborted) resolve();
      if (at !== undefined) wait(Math.max(0, at - Date.now()), idle.signal).then(resolve, () => {});
    });
    idle.abort();
    this.#wake = undefined;
  }

  async #robots({ host, url }) {
    try {
      const request = { maxBytes: ROBOTS_BYTES, redirects: ROBOTS_REDIRECTS, isCut: true };
      const { status, body } = await within(SITE_FILE_MS, (limit) => this.#fetch(url, { ...request, limit }));
      return (crawl, now) => crawl.robots(now, host, status, body);
    } catch (error) {
      // Too many redirects count as unavailable, which allows all (RFC 9309 section 2.3.1.2).
      if (error.isLoop) return (crawl, now) => crawl.robots(now, host, 404, new Uint8Array());
      return (crawl, now) => crawl.robotsFailed(now, host, failure(newId(), error));
    }
  }

  async #sitemap({ url }) {
    let file, body;
    try {
      file = await within(SITE_FILE_MS, (limit) => this.#fetch(url, { limit, maxBytes: SITEMAP_BYTES, isCut: true }));
      body = file.status < 300 ? await gunzip(file.body) : undefined;
    } catch {
      // Reported as missing.
    }
    return (crawl, now) => crawl.sitemap(now, url, file?.url ?? url, body);
  }

  async #page(action) {
    const id = newId();
    try {
      return await within(this.#timeoutMs, (limit) => this.#rendered(action, id, limit));
    } catch (error) {
      return (crawl, now) => crawl.pageFailed(now, action.key, failure(id, error));
    }
  }

  async #rendered({ key, url, fallback, isOwnOrigin }, id, limit) {
    const request = { headers: isOwnOrigin ? this.#headers : this.#publicHeaders, limit, maxBytes: this.#settings.maxBodyBytes };
    let requested = url;
    let response = await this.#fetch(url, request).catch((error) => {
      if (!fallback || error.isReached) throw error;
      requested = fallback;
      return this.#fetch(fallback, request);
    });
    for (const seen = new Set(); ; ) {
      const { body, ...rest } = response;
      const readable = await readableBody(response);
      const framed = await this.#framed({ ...rest, body: readable }, request, { left: FRAMES }, FRAME_DEPTH);
      const converted = readable === body ? undefined : readable;
      const [found, document] = this.#renderer.use((renderer) => renderer.page(JSON.stringify({ ...rest, id, requested }), body, converted, framed));
      const { redirect: next, ...report } = JSON.parse(found);
      if (next === undefined) {
        const text = JSON.stringify({ ...report, ...rest, key, id });
        return (crawl, now) => crawl.page(now, text, document);
      }
      if (seen.size >= PAGE_REFRESHES || seen.has(response.url)) throw new FetchFailure('SCRAPE_SITE_ERROR', `redirect loop at ${response.url}`);
      seen.add(response.url);
      response = await this.#fetch(next, { ...request, from: requested });
    }
  }

  /** Returns the body of a page with the documents of its frames, if it consists of frames. */
  async #framed({ url, status, contentType, body }, request, frames, depth) {
    if (depth === 0 || status >= 400 || !FRAME_TAG.test(latin1.decode(body))) return undefined;
    const page = pages.call((glue) => glue.Frames.of(url, contentType, body));
    if (!page) return undefined;
    try {
      for (const source of page.urls()) {
        if (frames.left-- <= 0) break;
        const fetched = (limit) => this.#fetch(source, { ...request, limit: either(limit, request.limit), maxBytes: FRAME_BYTES, from: url });
        const document = await within(FRAME_MS, fetched).catch(() => undefined);
        if (!document || document.status >= 400) {
          page.skip();
          continue;
        }
        const body = await readableBody(document);
        const inner = await this.#framed({ ...document, body }, request, frames, depth - 1);
        page.add(document.url, inner ? UTF8_HTML : document.contentType, inner ?? body);
      }
      return page.compose();
    } finally {
      page.free();
    }
  }

  /** Fetches a URL and follows its redirects, each of which must be allowed. `from` is the page that refers to it. */
  async #fetch(start, { headers, limit, maxBytes, isCut, redirects = REDIRECTS, from = start }) {
    const signal = either(limit, this.#signal);
    const { fetch, allowUrl, userAgent } = this.#settings;
    const origin = new URL(from).origin;
    let isAnswered = false;
    try {
      for (let url = start, hop = 0; ; hop++) {
        if (!/^https?:/.test(url)) throw new FetchFailure('SCRAPE_SITE_ERROR', `redirect to \`${url}\`, which is not an http or https URL`);
        if (!(await allowUrl(url))) throw new FetchFailure('UNSAFE_TARGET', `\`allowUrl\` does not allow ${url}`, { isReached: isAnswered });
        const sent = new Headers(headers ?? (userAgent && { 'user-agent': userAgent }));
        if (new URL(url).origin !== origin) PRIVATE_HEADERS.forEach((name) => sent.delete(name));
        let response = await fetch(url, { headers: sent, redirect: 'manual', signal });
        // Browsers do not show where a redirect leads.
        if (response.type === 'opaqueredirect') response = await fetch(url, { headers: sent, signal });
        isAnswered = true;
        const final = response.redirected && response.url ? response.url : url;
        if (final !== url && !(await allowUrl(final))) throw new FetchFailure('UNSAFE_TARGET', `\`allowUrl\` does not allow ${final}`);
        const location = REDIRECT.has(response.status) ? response.headers.get('location') : null;
        if (location === null) {
          return {
            url: final,
            status: response.status,
            contentType: response.headers.get('content-type') ?? undefined,
            retryAfterMs: retryAfter(response),
            body: await bodyOf(response, maxBytes, isCut),
          };
        }
        await response.body?.cancel();
        if (hop >= redirects) throw Object.assign(new FetchFailure('SCRAPE_SITE_ERROR', `more than ${redirects} redirects`), { isLoop: true });
        const next = new URL(location, url);
        next.hash = '';
        url = next.href;
      }
    } catch (error) {
      if (error instanceof FetchFailure) throw error;
      if (limit?.aborted) throw new FetchFailure('SCRAPE_TIMEOUT', 'no response within the time limit', { transient: true });
      const code = error?.cause?.code ?? error?.code ?? '';
      const kind = /^(ENOTFOUND|EAI_)/.test(code) ? 'SCRAPE_DNS_RESOLUTION_ERROR' : /CERT|TLS|SSL|SELF_SIGNED/.test(code) ? 'SCRAPE_SSL_ERROR' : 'SCRAPE_SITE_ERROR';
      throw new FetchFailure(kind, reason(error), { transient: kind === 'SCRAPE_SITE_ERROR', isReached: isAnswered });
    }
  }
}

const REDIRECT = /* @__PURE__ */ new Set([301, 302, 303, 307, 308]);
const FRAME_TAG = /<i?frame/i;
const UTF8_HTML = 'text/html; charset=utf-8';
const latin1 = /* @__PURE__ */ new TextDecoder('latin1');

/** Returns the body of a response in UTF-8 if pages.wasm cannot decode its charset, else unchanged. */
async function readableBody({ url, contentType, body }) {
  if (!pages.call((glue) => glue.responseNeedsCharsets(url, contentType, body))) return body;
  await charsets.load();
  return charsets.call((glue) => glue.toUtf8(body, contentType));
}

/** Reads a body up to a number of bytes; more is cut off or an error. */
async function bodyOf(response, maxBytes, isCut) {
  const chunks = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part; reader && !(part = await reader.read()).done; ) {
    chunks.push(part.value);
    size += part.value.length;
    if (size <= maxBytes) continue;
    reader.cancel().catch(() => {});
    if (isCut) break;
    throw new FetchFailure('SCRAPE_SITE_ERROR', `the response is larger than ${maxBytes} bytes`);
  }
  const body = new Uint8Array(Math.min(size, maxBytes));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk.subarray(0, body.length - at), at);
    at += Math.min(chunk.length, body.length - at);
  }
  return body;
}

/** Unpacks a gzip file, as far as it is intact; returns any other body unchanged. */
async function gunzip(body) {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  return bodyOf(new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream('gzip'))), SITEMAP_BYTES, true);
}

const failure = (id, { code, message, transient = false, isReached = true }) => JSON.stringify({ id, code: code ?? 'SCRAPE_SITE_ERROR', message, transient, isReached });

/** Returns a UUID of version 7. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setBigUint64(0, (BigInt(Date.now()) << 16n) | 0x7000n | BigInt(bytes[7]) | (BigInt(bytes[6] & 15) << 8n));
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
