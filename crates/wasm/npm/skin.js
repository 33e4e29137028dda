// What JavaScript has and wasm lacks: async iteration, abort signals, waiting, error classes.
// Every decision about the API is made in the wasm.
import { ApiClient } from './glue.js';
import { calling, guarded, JobTimeoutError, wait } from './failure.js';
import { environment, pick } from './settings.js';

export { AuthError, HarvestmanError, JobTimeoutError, NetworkError, PaymentRequiredError, RateLimitError, ValidationError } from './failure.js';
export { extractLinks, extractMetadata, htmlToMarkdown, normalizeUrl, parseSitemap, Robots, Scope, signWebhook, verifyWebhook } from './tools.js';

const DEFAULT_URL = 'http://localhost:3002';
const DEFAULT_POLL_MS = 1000;

/** The API of one server for one key. */
export class Harvestman {
  #client;
  #retries;
  #timeoutMs;

  constructor(settings = {}) {
    const given = typeof settings === 'string' ? { apiKey: settings } : (settings ?? {});
    const { apiKey, apiUrl, maxRetries = 2, timeoutMs } = pick(given, 'Harvestman', ['apiKey', 'apiUrl', 'maxRetries', 'timeoutMs']);
    this.apiUrl = String(apiUrl ?? environment('API_URL') ?? DEFAULT_URL).replace(/\/+$/, '');
    this.#client = new ApiClient(this.apiUrl, apiKey ?? environment('API_KEY') ?? undefined);
    this.#retries = maxRetries;
    this.#timeoutMs = timeoutMs;
  }

  /** One page: its document. */
  async scrape(url, options = {}, { signal } = {}) {
    const answer = await this.#send((client, signal) => client.scrape({ ...options, url }, signal), signal);
    return answer.warning ? { ...answer.data, warning: answer.data.warning ?? answer.warning } : answer.data;
  }

  /** A page scraped earlier, by `metadata.scrapeId`. */
  async getScrape(id, { signal } = {}) {
    return (await this.#read((client, signal) => client.scrapeResult(id, signal), signal)).data;
  }

  /** Starts a crawl and gives its job without waiting. */
  async startCrawl(url, options = {}, { signal } = {}) {
    const { id } = await this.#send((client, signal) => client.startCrawl({ ...options, url }, signal), signal);
    return this.job(id);
  }

  /** The job of a crawl that was started elsewhere. */
  job(id) {
    return new CrawlJob(this, id, (signal) => guarded(() => this.#client.pages(id, signal)), this.#retries);
  }

  /** Numbers of a crawl and its documents from `skip` on, as many as one answer holds. */
  getCrawlStatus(id, { skip = 0, limit, signal } = {}) {
    return this.#read((client, signal) => client.crawlStatus(id, skip, limit, signal), signal);
  }

  /** Crawls and waits: the final status with all documents. */
  async crawl(url, options = {}, more = {}) {
    const { onProgress, signal, timeoutMs, ...request } = { ...options, ...more };
    const job = await this.startCrawl(url, request, { signal });
    return job.wait({ onProgress, signal, timeoutMs });
  }

  /** Stops a crawl; documents so far stay readable. */
  cancelCrawl(id, { signal } = {}) {
    return this.#read((client, signal) => client.cancelCrawl(id, signal), signal);
  }

  /** Pages that failed, and addresses that robots.txt forbids. */
  getCrawlErrors(id, { signal } = {}) {
    return this.#read((client, signal) => client.crawlErrors(id, signal), signal);
  }

  /** Running crawls of the team, newest first. */
  async getActiveCrawls({ signal } = {}) {
    return (await this.#read((client, signal) => client.activeCrawls(signal), signal)).crawls;
  }

  // A call that may have an effect is repeated only when the server refused it for being busy.
  #send(call, signal) {
    return this.#call(call, signal, false);
  }

  #read(call, signal) {
    return this.#call(call, signal, true);
  }

  #call(call, signal, repeatable) {
    return calling((signal) => call(this.#client, signal), {
      signal,
      timeoutMs: this.#timeoutMs,
      retries: this.#retries,
      repeatable,
    });
  }
}

/** A crawl on the server. */
export class CrawlJob {
  #hm;
  #open;
  #retries;

  constructor(hm, id, open, retries) {
    this.#hm = hm;
    this.#open = open;
    this.#retries = retries;
    this.id = id;
    this.url = `${hm.apiUrl}/v2/crawl/${id}`;
  }

  /** Every document once, in order of completion, as soon as it is ready; ends when the crawl has ended. */
  async *pages({ signal, onProgress } = {}) {
    const stream = this.#open(signal);
    let told;
    try {
      for (;;) {
        const document = await calling(() => stream.next(), { signal, retries: this.#retries, repeatable: true });
        const progress = stream.progress();
        if (onProgress && progress && told !== JSON.stringify(progress)) {
          told = JSON.stringify(progress);
          onProgress(progress);
        }
        if (document === undefined) return;
        yield document;
      }
    } finally {
      stream.free();
    }
  }

  /** Waits for the end: the final status with all documents. */
  async wait({ signal, onProgress, timeoutMs } = {}) {
    const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const both = limit && signal ? AbortSignal.any([limit, signal]) : (limit ?? signal);
    const data = [];
    try {
      for await (const document of this.pages({ signal: both, onProgress })) data.push(document);
      for (;;) {
        const status = await this.status({ skip: data.length, signal: both });
        if (status.status !== 'scraping') return { ...status, id: this.id, data };
        await wait(DEFAULT_POLL_MS, both);
      }
    } catch (error) {
      if (limit?.aborted && !signal?.aborted) throw new JobTimeoutError(this.id, timeoutMs);
      throw error;
    }
  }

  status(options) {
    return this.#hm.getCrawlStatus(this.id, options);
  }

  errors(options) {
    return this.#hm.getCrawlErrors(this.id, options);
  }

  cancel(options) {
    return this.#hm.cancelCrawl(this.id, options);
  }
}
