// The client: one method per call, with the names and results of firecrawl-js where it has them. The wasm checks
// request bodies before they are sent. Responses are returned as sent, so that fields of newer servers are kept.
import { expect, options, positive, urlText } from './errors.js';
import { fileOf } from './files.js';
import { Interaction } from './interaction.js';
import { AgentJob, BatchScrapeJob, CrawlJob, ExtractJob, finish } from './jobs.js';
import { withJsonSchemas } from './schema.js';
import { Transport } from './transport.js';
import { wasm } from './wasm.js';
import { Watcher } from './watcher.js';

/** The calls of the API by path. `*` in a path stands for `id`. */
class Api {
  #transport;

  constructor(settings) {
    this.#transport = new Transport(settings);
    this.apiUrl = this.#transport.apiUrl;
  }

  read(path, { signal } = {}) {
    return this.#transport.send('GET', `/v2/${path}`, { signal });
  }

  remove(path, { signal } = {}, id) {
    return this.#transport.send('DELETE', url(path, id), { signal });
  }

  /** `kind` names the body where a path takes several. */
  async post(path, given, { signal, kind = path, ...more } = {}, id, method = 'POST') {
    const body = JSON.stringify(withJsonSchemas(given));
    await wasm.load();
    wasm.call((glue) => glue.checkRequest(kind, body));
    return this.#transport.send(method, url(path, id), { body, signal, ...more });
  }

  run(path, { signal } = {}, id) {
    return this.#transport.send('POST', url(path, id), { body: '{}', signal });
  }

  /** Starts a job. With its key, a retry returns the same job. */
  start(path, { idempotencyKey = randomKey(), ...body }, given) {
    return this.post(path, body, { ...given, headers: { 'x-idempotency-key': expect(idempotencyKey, 'string', 'idempotencyKey') }, repeatable: true });
  }

  async upload(path, file, given, { signal } = {}) {
    const text = JSON.stringify(withJsonSchemas(given));
    await wasm.load();
    wasm.call((glue) => glue.checkRequest(path, text));
    return this.sendFile(`/v2/${path}`, file, { signal }, text);
  }

  async sendFile(target, file, { signal } = {}, text) {
    const body = new FormData();
    if (text !== undefined) body.append('options', text);
    const { blob, filename } = await fileOf(file);
    body.append('file', blob, filename);
    return this.#transport.send('POST', target, { body, signal });
  }
}

const url = (path, id) => `/v2/${id === undefined ? path : path.replace('*', encodeURIComponent(expect(id, 'string', 'id')))}`;
const isReference = (file) => typeof file?.uploadRef === 'string';
const part = (id) => encodeURIComponent(expect(id, 'string', 'id'));
const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const seconds = (value, name) => (value === undefined ? undefined : positive(value, name) * 1000);

/** Separates the options of waiting from the request. `pollInterval` and `timeout` are those of firecrawl-js. */
function separate(given, more) {
  const { onProgress, signal, timeoutMs, pollMs, pollInterval, timeout, ...request } = { ...options(given), ...options(more, 'call') };
  const wait = { onProgress, signal, timeoutMs: timeoutMs ?? seconds(timeout, 'timeout'), pollMs: pollMs ?? seconds(pollInterval, 'pollInterval') };
  return { request, wait };
}

/** Starts a job and waits for it. An aborted call cancels the job, also while it is being started. */
async function startAndFinish(starting, wait) {
  const { signal } = wait;
  if (!signal) return finish(await starting, wait);
  let stop;
  const aborted = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  aborted.catch(() => {});
  try {
    return await finish(await Promise.race([starting, aborted]), wait);
  } catch (error) {
    if (signal.aborted) starting.then((job) => job.cancel()).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Returns a document, with the warning of the response. */
const documentOf = ({ data, warning }) => (warning ? { ...data, warning: data?.warning ?? warning } : data);

/** Returns the options of a batch scrape, which firecrawl-js nests. */
function batchOf(urls, given) {
  const { options: nested, ...rest } = options(given);
  return { ...rest, ...options(nested), urls: expect(urls, 'array', 'urls').map((one) => urlText(one, 'urls')) };
}

/** A client of one server with one key. */
export class Harvestman {
  #api;

  constructor(settings) {
    this.#api = new Api(settings);
    this.apiUrl = this.#api.apiUrl;
  }

  async scrape(url, given, call) {
    const { autoResume, ...body } = options(given);
    return documentOf(await this.#api.post('scrape', { ...body, url: urlText(url) }, options(call, 'call')));
  }

  async getScrape(id, call) {
    return documentOf(await this.#api.read(`scrape/${encodeURIComponent(expect(id, 'string', 'id'))}`, options(call, 'call')));
  }

  async parse(file, given, call) {
    if (isReference(file)) {
      const body = { ...options(given), uploadRef: file.uploadRef };
      return documentOf(await this.#api.post('parse', body, { ...options(call, 'call'), kind: 'parse/upload' }));
    }
    return documentOf(await this.#api.upload('parse', file, options(given), options(call, 'call')));
  }

  async createUploadUrl(given, call) {
    return (await this.#api.post('parse/upload-url', options(given), options(call, 'call'))).data;
  }

  async parseFormats(call) {
    return this.#api.read('parse/formats', options(call, 'call'));
  }

  async interact(scrapeId, given, call) {
    return this.#api.post('scrape/*/interact', options(given), options(call, 'call'), expect(scrapeId, 'string', 'id'));
  }

  async stopInteraction(scrapeId, call) {
    return this.#api.remove('scrape/*/interact', options(call, 'call'), expect(scrapeId, 'string', 'id'));
  }

  interaction(scrapeId) {
    return new Interaction(this, expect(scrapeId, 'string', 'id'));
  }

  async startCrawl(url, given, call) {
    const { id, url: status, ...rest } = await this.#api.start('crawl', { ...options(given), url: urlText(url) }, options(call, 'call'));
    return new CrawlJob(this.#api, 'crawl', id, status, rest);
  }

  async crawl(url, given, call) {
    const { request, wait } = separate(given, call);
    wait.signal?.throwIfAborted();
    return startAndFinish(this.startCrawl(url, request), wait);
  }

  job(id) {
    return new CrawlJob(this.#api, 'crawl', expect(id, 'string', 'id'));
  }

  getCrawlStatus(id, given) {
    return allPages(() => this.job(id), given);
  }

  async cancelCrawl(id, call) {
    return this.job(id).cancel(call);
  }

  async getCrawlErrors(id, call) {
    return this.job(id).errors(call);
  }

  async getActiveCrawls(call) {
    return this.#api.read('crawl/active', options(call, 'call'));
  }

  async crawlParamsPreview(url, prompt, call) {
    const { data, warning } = await this.#api.post('crawl/params-preview', { url: urlText(url), prompt }, options(call, 'call'));
    return warning ? { ...data, warning } : data;
  }

  async startBatchScrape(urls, given, call) {
    const { id, url, ...rest } = await this.#api.start('batch/scrape', batchOf(urls, given), options(call, 'call'));
    return new BatchScrapeJob(this.#api, 'batch/scrape', id, url, { invalidURLs: [], ...rest });
  }

  async batchScrape(urls, given, call) {
    const { options: nested, timeout, ...rest } = options(given);
    // Next to `options`, the timeout limits the waiting, as in firecrawl-js; without `options`, it limits each page.
    const { request, wait } = separate({ ...rest, ...(nested && { timeout }) }, call);
    wait.signal?.throwIfAborted();
    return startAndFinish(this.startBatchScrape(urls, { ...request, ...(nested ? { options: nested } : timeout !== undefined && { timeout }) }), wait);
  }

  batchScrapeJob(id) {
    return new BatchScrapeJob(this.#api, 'batch/scrape', expect(id, 'string', 'id'), undefined, { invalidURLs: [] });
  }

  getBatchScrapeStatus(id, given) {
    return allPages(() => this.batchScrapeJob(id), given);
  }

  async cancelBatchScrape(id, call) {
    return this.batchScrapeJob(id).cancel(call);
  }

  async getBatchScrapeErrors(id, call) {
    return this.batchScrapeJob(id).errors(call);
  }

  watcher(id, { kind, ...given } = {}) {
    return new Watcher(kind === 'batch' ? this.batchScrapeJob(id) : this.job(id), separate(given).wait);
  }

  async map(url, given, call) {
    const { success, ...rest } = await this.#api.post('map', { ...options(given), url: urlText(url) }, options(call, 'call'));
    return rest;
  }

  async search(query, given, call) {
    const { success, data, ...rest } = await this.#api.post('search', { ...options(given), query }, options(call, 'call'));
    return { ...rest, ...data };
  }

  async startExtract(given, call) {
    const { id, ...rest } = await this.#api.start('extract', options(given), options(call, 'call'));
    return new ExtractJob(this.#api, 'extract', id, rest);
  }

  async extract(given, call) {
    const { request, wait } = separate(given, call);
    return startAndFinish(this.startExtract(request), wait);
  }

  async getExtractStatus(id, call) {
    return new ExtractJob(this.#api, 'extract', expect(id, 'string', 'id')).status(call);
  }

  async startAgent(given, call) {
    const { id, ...rest } = await this.#api.start('agent', options(given), options(call, 'call'));
    return new AgentJob(this.#api, 'agent', id, rest);
  }

  async agent(given, call) {
    const { request, wait } = separate(given, call);
    return startAndFinish(this.startAgent(request), wait);
  }

  async getAgentStatus(id, call) {
    return new AgentJob(this.#api, 'agent', expect(id, 'string', 'id')).status(call);
  }

  async cancelAgent(id, call) {
    return new AgentJob(this.#api, 'agent', expect(id, 'string', 'id')).cancel(call);
  }

  async listAgents({ before, signal } = {}) {
    return this.#api.read(`agent${query({ before })}`, { signal });
  }

  async createMonitor(given, call) {
    return (await this.#api.post('monitor', options(given), options(call, 'call'))).data;
  }

  async listMonitors({ limit, offset, signal } = {}) {
    return (await this.#api.read(`monitor${query({ limit, offset })}`, { signal })).data;
  }

  async getMonitor(id, call) {
    return (await this.#api.read(`monitor/${part(id)}`, options(call, 'call'))).data;
  }

  async updateMonitor(id, given, call) {
    return (await this.#api.post('monitor/*', options(given), options(call, 'call'), expect(id, 'string', 'id'), 'PATCH')).data;
  }

  async deleteMonitor(id, call) {
    return (await this.#api.remove('monitor/*', options(call, 'call'), expect(id, 'string', 'id'))).success === true;
  }

  async runMonitor(id, call) {
    return (await this.#api.run('monitor/*/run', options(call, 'call'), expect(id, 'string', 'id'))).data;
  }

  async listMonitorChecks(id, { limit, offset, status, signal } = {}) {
    return (await this.#api.read(`monitor/${part(id)}/checks${query({ limit, offset, status })}`, { signal })).data;
  }

  async getMonitorCheck(id, checkId, { limit = 100, skip = 0, status, autoPaginate = true, signal } = {}) {
    const path = `monitor/${part(id)}/checks/${part(checkId)}`;
    for (let pages = []; ; ) {
      const { data, next } = await this.#api.read(path + query({ limit, skip: skip + pages.length, status }), { signal });
      pages = [...pages, ...data.pages];
      if (!next || !autoPaginate) return { ...data, pages, next: next ?? null };
    }
  }

  async browser(given, call) {
    return this.#api.post('browser', options(given), options(call, 'call'));
  }

  async browserExecute(id, given, call) {
    return this.#api.post('browser/*/execute', { language: 'bash', ...options(given) }, options(call, 'call'), expect(id, 'string', 'id'));
  }

  async extendBrowser(id, given, call) {
    return this.#api.post('browser/*/extend', options(given), options(call, 'call'), expect(id, 'string', 'id'));
  }

  async listBrowserFiles(id, call) {
    return (await this.#api.read(`browser/${part(id)}/files`, options(call, 'call'))).files;
  }

  async addBrowserFile(id, file, call) {
    const path = 'browser/*/files';
    const given = options(call, 'call');
    const { file: added } = isReference(file)
      ? await this.#api.post(path, { uploadRef: file.uploadRef }, given, expect(id, 'string', 'id'))
      : await this.#api.sendFile(url(path, id), file, given);
    return added;
  }

  async deleteBrowser(id, call) {
    return this.#api.remove('browser/*', options(call, 'call'), expect(id, 'string', 'id'));
  }

  async listBrowsers({ status, signal } = {}) {
    return this.#api.read(`browser${query({ status })}`, { signal });
  }

  async getConcurrency(call) {
    return this.#data('concurrency-check', call);
  }

  async getCreditUsage(call) {
    return this.#data('team/credit-usage', call);
  }

  async getTokenUsage(call) {
    return this.#data('team/token-usage', call);
  }

  async getCreditUsageHistorical(given, call) {
    return this.#history('credit', given, call);
  }

  async getTokenUsageHistorical(given, call) {
    return this.#history('token', given, call);
  }

  async getQueueStatus(call) {
    return this.#api.read('team/queue-status', options(call, 'call'));
  }

  async *activity({ endpoint, limit, signal } = {}) {
    for (let cursor; cursor !== null; ) {
      const page = await this.#api.read(`team/activity${query({ endpoint, limit, cursor })}`, { signal });
      yield* page.data;
      cursor = page.has_more ? (page.cursor ?? null) : null;
    }
  }

  async docsSearch(question, given, call) {
    return this.#api.post('support/docs-search', { ...options(given), question }, options(call, 'call'));
  }

  async #data(path, call) {
    const { success, data, ...rest } = await this.#api.read(path, options(call, 'call'));
    return data ?? rest;
  }

  #history(kind, given, call) {
    const { byApiKey, signal = options(call, 'call').signal } = typeof given === 'boolean' ? { byApiKey: given } : options(given);
    return this.#api.read(`team/${kind}-usage/historical${query({ byApiKey: byApiKey || undefined })}`, { signal });
  }
}

/** Returns the status of a job with the documents so far. With `skip` or `limit`, one chunk of them. */
async function allPages(jobOf, given) {
  const { skip, limit, signal, autoPaginate = skip === undefined && limit === undefined, maxPages = Infinity, maxResults = Infinity, maxWaitTime = Infinity } = options(given);
  const job = jobOf();
  const begun = Date.now();
  const status = await job.status({ skip, limit, signal });
  for (let pages = 0; autoPaginate && status.next && status.data.length > 0; pages++) {
    if (pages >= maxPages || status.data.length >= maxResults || Date.now() - begun >= maxWaitTime * 1000) break;
    const { data, next } = await job.status({ skip: status.data.length, signal });
    status.next = next;
    if (data.length === 0) break;
    status.data.push(...data);
  }
  if (status.data.length > maxResults) status.data.length = maxResults;
  return status;
}

function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

// Earlier names of firecrawl-js.
const EARLIER = {
  scrapeUrl: 'scrape',
  crawlUrl: 'crawl',
  asyncCrawlUrl: 'startCrawl',
  checkCrawlStatus: 'getCrawlStatus',
  checkCrawlErrors: 'getCrawlErrors',
  mapUrl: 'map',
  batchScrapeUrls: 'batchScrape',
  asyncBatchScrapeUrls: 'startBatchScrape',
  checkBatchScrapeStatus: 'getBatchScrapeStatus',
  checkBatchScrapeErrors: 'getBatchScrapeErrors',
  scrapeExecute: 'interact',
  stopInteractiveBrowser: 'stopInteraction',
  deleteScrapeBrowser: 'stopInteraction',
};
for (const name in EARLIER) Object.defineProperty(Harvestman.prototype, name, { value: Harvestman.prototype[EARLIER[name]], configurable: true, writable: true });
