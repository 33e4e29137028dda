// The JavaScript part of the API: async iteration, abort signals, waiting, error classes.
// Every rule of the API is in the wasm.
import { ApiClient } from './glue.js';
import { calling, guarded, JobTimeoutError, wait } from './failure.js';
import { environment, pick } from './settings.js';

export { AuthError, HarvestmanError, JobTimeoutError, NetworkError, PaymentRequiredError, RateLimitError, ValidationError } from './failure.js';
export { cleanHtml, extractLinks, extractMetadata, htmlToMarkdown, normalizeUrl, parseSitemap, Robots, Scope, signWebhook, verifyWebhook } from './tools.js';

const DEFAULT_URL = 'http://localhost:3002';
const DEFAULT_POLL_MS = 1000;

/** A client of one server with one key. */
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

  /** Scrapes a page and returns its document. */
  async scrape(url, options = {}, { signal } = {}) {
    const answer = await this.#send((client, signal) => client.scrape({ ...options, url }, signal), signal);
    return answer.warning ? { ...answer.data, warning: answer.data.warning ?? answer.warning } : answer.data;
  }

  /** Returns an earlier scrape, by `metadata.scrapeId`. */
  async getScrape(id, { signal } = {}) {
    return (await this.#read((client, signal) => client.scrapeResult(id, signal), signal)).data;
  }

  /** Starts a crawl and returns its job without waiting. */
  async startCrawl(url, options = {}, { signal } = {}) {
    const { id } = await this.#send((client, signal) => client.startCrawl({ ...options, url }, signal), signal);
    return this.job(id);
  }

  /** Returns the job of a crawl that was started elsewhere. */
  job(id) {
    return new CrawlJob(id, `${this.apiUrl}/v2/crawl/${id}`, {
      pages: (signal) => guarded(() => this.#client.crawlPages(id, signal)),
      status: (options) => this.getCrawlStatus(id, options),
      errors: (options) => this.getCrawlErrors(id, options),
      cancel: (options) => this.cancelCrawl(id, options),
      retries: this.#retries,
    });
  }

  /** Returns the progress of a crawl and its documents from `skip`, as many as fit into one response. */
  getCrawlStatus(id, { skip = 0, limit, signal } = {}) {
    return this.#read((client, signal) => client.crawlStatus(id, skip, limit, signal), signal);
  }

  /** Crawls, waits, and returns the final status with all documents. */
  async crawl(url, options = {}, more = {}) {
    const { onProgress, signal, timeoutMs, ...request } = { ...options, ...more };
    const job = await this.startCrawl(url, request, { signal });
    return job.wait({ onProgress, signal, timeoutMs });
  }

  /** Cancels a crawl; its documents stay readable. */
  cancelCrawl(id, { signal } = {}) {
    return this.#read((client, signal) => client.cancelCrawl(id, signal), signal);
  }

  /** Returns the failed pages and the URLs blocked by robots.txt. */
  getCrawlErrors(id, { signal } = {}) {
    return this.#read((client, signal) => client.crawlErrors(id, signal), signal);
  }

  /** Lists the running crawls of the team, newest first. */
  async getActiveCrawls({ signal } = {}) {
    return (await this.#read((client, signal) => client.activeCrawls(signal), signal)).crawls;
  }

  /** Starts a batch scrape and returns its job without waiting. `appendToId` adds the pages to an existing one. */
  async startBatchScrape(urls, options = {}, { signal } = {}) {
    const { id, invalidURLs } = await this.#send((client, signal) => client.startBatchScrape({ ...options, urls }, signal), signal);
    const job = this.batchScrapeJob(id);
    job.invalidURLs = invalidURLs ?? [];
    return job;
  }

  /** Returns the job of a batch scrape that was started elsewhere. */
  batchScrapeJob(id) {
    return new BatchScrapeJob(id, `${this.apiUrl}/v2/batch/scrape/${id}`, {
      pages: (signal) => guarded(() => this.#client.batchScrapePages(id, signal)),
      status: (options) => this.getBatchScrapeStatus(id, options),
      errors: (options) => this.getBatchScrapeErrors(id, options),
      cancel: (options) => this.cancelBatchScrape(id, options),
      retries: this.#retries,
    });
  }

  /** Scrapes a list of pages, waits, and returns the final status with all documents. */
  async batchScrape(urls, options = {}, more = {}) {
    const { onProgress, signal, timeoutMs, ...request } = { ...options, ...more };
    const job = await this.startBatchScrape(urls, request, { signal });
    return job.wait({ onProgress, signal, timeoutMs });
  }

  /** Returns the progress of a batch scrape and its documents from `skip`, as many as fit into one response. */
  getBatchScrapeStatus(id, { skip = 0, limit, signal } = {}) {
    return this.#read((client, signal) => client.batchScrapeStatus(id, skip, limit, signal), signal);
  }

  /** Cancels a batch scrape; its documents stay readable. */
  cancelBatchScrape(id, { signal } = {}) {
    return this.#read((client, signal) => client.cancelBatchScrape(id, signal), signal);
  }

  /** Returns the failed pages. */
  getBatchScrapeErrors(id, { signal } = {}) {
    return this.#read((client, signal) => client.batchScrapeErrors(id, signal), signal);
  }

  /** Lists the URLs of a site, best first. */
  async map(url, options = {}, { signal } = {}) {
    const { links, warning } = await this.#send((client, signal) => client.map({ ...options, url }, signal), signal);
    return warning ? { links, warning } : { links };
  }

  // A call that may have an effect is retried only if the server rejected it as rate limited.
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

/** A job on the server. */
class Job {
  #calls;

  constructor(id, url, calls) {
    this.#calls = calls;
    this.id = id;
    this.url = url;
  }

  /** Yields every document once, in order of completion, as soon as it is ready, until the job has ended. */
  async *pages({ signal, onProgress } = {}) {
    const stream = this.#calls.pages(signal);
    let reported;
    try {
      for (;;) {
        const document = await calling(() => stream.next(), { signal, retries: this.#calls.retries, repeatable: true });
        const progress = stream.progress();
        if (onProgress && progress && reported !== JSON.stringify(progress)) {
          reported = JSON.stringify(progress);
          onProgress(progress);
        }
        if (document === undefined) return;
        yield document;
      }
    } finally {
      stream.free();
    }
  }

  /** Waits until the job has ended and returns the final status with all documents. */
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
    return this.#calls.status(options);
  }

  errors(options) {
    return this.#calls.errors(options);
  }

  cancel(options) {
    return this.#calls.cancel(options);
  }
}

/** A crawl on the server. */
export class CrawlJob extends Job {}

/** A batch scrape on the server. */
export class BatchScrapeJob extends Job {
  /** The entries of the list that are not valid URLs. */
  invalidURLs = [];
}
