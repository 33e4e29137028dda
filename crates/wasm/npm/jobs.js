// Jobs on the server: their pages as they complete, and waiting for their end.
import { HarvestmanError, JobTimeoutError, options, positive } from './errors.js';
import { either, timeLimit, wait } from './transport.js';

const SHORTEST_POLL_MS = 500;
const CHUNK = 100;

/** A crawl or batch scrape. */
class Job {
  #api;
  #path;

  constructor(api, path, id, url, more) {
    this.#api = api;
    this.#path = `${path}/${encodeURIComponent(id)}`;
    this.id = id;
    this.url = url ?? `${api.apiUrl}/v2/${this.#path}`;
    Object.assign(this, more);
  }

  /** Yields every document once, in order of completion, as soon as it is ready, until the job has ended. */
  async *pages({ signal, onProgress, timeoutMs, pollMs } = {}) {
    const limit = timeLimit(positive(timeoutMs, 'timeoutMs'));
    const both = either(limit, signal);
    const pause = Math.max(SHORTEST_POLL_MS, positive(pollMs, 'pollMs') ?? 0);
    let skip = 0;
    let reported;
    try {
      for (;;) {
        const begun = Date.now();
        const { data, ...progress } = await this.status({ skip, limit: CHUNK, signal: both });
        const now = JSON.stringify([progress.status, progress.completed, progress.total]);
        if (reported !== now) onProgress?.({ ...progress, data: [] });
        reported = now;
        for (const document of data) {
          skip++;
          yield document;
        }
        if (!progress.next) return progress;
        if (data.length === 0) await wait(Math.max(0, begun + pause - Date.now()), both);
      }
    } catch (error) {
      if (limit?.aborted && !signal?.aborted) throw jobTimeout(this.id, timeoutMs);
      if (error instanceof HarvestmanError) error.jobId ??= this.id;
      throw error;
    }
  }

  /** Waits until the job has ended and returns the final status with all documents. */
  async wait(given) {
    const data = [];
    for (let pages = this.pages(given); ; ) {
      const { done, value } = await pages.next();
      if (done) return { ...value, id: this.id, data };
      data.push(value);
    }
  }

  /** Returns the progress and the documents from `skip`, as many as fit into one response. */
  async status(given) {
    const { skip = 0, limit, signal } = options(given);
    const query = `?skip=${positive(skip, 'skip')}${limit === undefined ? '' : `&limit=${positive(limit, 'limit')}`}`;
    return { id: this.id, ...(await this.#api.read(this.#path + query, { signal })) };
  }

  /** Returns the failed pages and the URLs blocked by robots.txt. */
  async errors(given) {
    return this.#api.read(`${this.#path}/errors`, options(given));
  }

  /** Cancels the job; its documents stay readable. Returns whether it is cancelled. */
  async cancel(given) {
    return (await this.#api.remove(this.#path, options(given))).status === 'cancelled';
  }
}

/** A crawl on the server. */
export class CrawlJob extends Job {}
/** A batch scrape on the server. */
export class BatchScrapeJob extends Job {}

/** An extract or agent. */
class Run {
  #api;
  #path;

  constructor(api, path, id, more) {
    this.#api = api;
    this.#path = `${path}/${encodeURIComponent(id)}`;
    Object.assign(this, more);
    this.id = id;
  }

  /** Returns the status, and the result once there is one. */
  async status(given) {
    return { id: this.id, ...(await this.#api.read(this.#path, options(given))) };
  }

  /** Waits until the run has ended and returns its status with the result. */
  async wait({ signal, onProgress, timeoutMs, pollMs } = {}) {
    const limit = timeLimit(positive(timeoutMs, 'timeoutMs'));
    const both = either(limit, signal);
    try {
      for (;;) {
        const status = await this.status({ signal: both });
        onProgress?.(status);
        if (status.status !== 'processing') return status;
        await wait(Math.max(SHORTEST_POLL_MS, positive(pollMs, 'pollMs') ?? 1000), both);
      }
    } catch (error) {
      if (limit?.aborted && !signal?.aborted) throw jobTimeout(this.id, timeoutMs);
      if (error instanceof HarvestmanError) error.jobId ??= this.id;
      throw error;
    }
  }

  /** Cancels the run. Returns whether the server accepted it. */
  async cancel(given) {
    return (await this.#api.remove(this.#path, options(given))).success === true;
  }
}

/** An extract on the server. */
export class ExtractJob extends Run {}
/** An agent on the server. */
export class AgentJob extends Run {}

const jobTimeout = (jobId, timeoutMs) =>
  new JobTimeoutError({ code: 'JOB_TIMEOUT', message: `The job ${jobId} did not end within ${timeoutMs} ms; it continues on the server.`, jobId, timeoutSeconds: timeoutMs / 1000 });

/**
 * Waits for a job. When the signal is aborted, a job that was started by the same call is cancelled, because nobody
 * else knows its id.
 */
export async function finish(job, given) {
  try {
    return await job.wait(given);
  } catch (error) {
    if (given.signal?.aborted) await job.cancel().catch(() => {});
    throw error;
  }
}
