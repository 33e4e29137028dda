// HTTP: requests with retries, time limits and errors.
import { errorOf, expect, NetworkError, options, positive, ValidationError } from './errors.js';

const DEFAULT_URL = 'http://localhost:3002';
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Longest `Retry-After` that is waited for unless there is a timeout. */
const LONGEST_RETRY_AFTER_MS = 120_000;
const LONGEST_TIMER_MS = 0x7fffffff;
const ERROR_CHARS = 200;
const SETTINGS = ['apiKey', 'apiUrl', 'backoffFactor', 'fetch', 'headers', 'maxRetries', 'timeoutMs'];

/** Returns HARVESTMAN_<name>, or FIRECRAWL_<name>, if there is an environment. */
function environment(name) {
  const variables = globalThis.process?.env ?? {};
  return variables[`HARVESTMAN_${name}`] || variables[`FIRECRAWL_${name}`] || undefined;
}

const invalid = (message, cause) => new ValidationError({ status: 400, code: 'BAD_REQUEST', message }, { cause });

/** Returns headers. The error does not contain the value, which may be a secret. */
export function headersOf(given, name) {
  try {
    return new Headers(given);
  } catch {
    throw invalid(`${name} cannot be sent: it contains characters that an HTTP header cannot carry`);
  }
}

/** Sends requests to one server with one key. */
export class Transport {
  constructor(settings) {
    const given = typeof settings === 'string' ? { apiKey: settings } : options(settings, 'settings');
    for (const name of Object.keys(given)) {
      if (!SETTINGS.includes(name)) throw invalid(`there is no setting \`${name}\`; the settings are ${SETTINGS.join(', ')}`);
    }
    this.apiUrl = expect(given.apiUrl ?? environment('API_URL') ?? DEFAULT_URL, 'string', 'apiUrl').replace(/\/+$/, '');
    if (!/^https?:\/\/[^/]/i.test(this.apiUrl)) throw invalid(`apiUrl must be an http or https URL, not \`${this.apiUrl}\``);
    this.headers = headersOf(given.headers ?? {}, 'headers');
    const key = given.apiKey ?? environment('API_KEY');
    if (key !== undefined) {
      const authorization = headersOf({ authorization: `Bearer ${expect(key, 'string', 'apiKey')}` }, 'apiKey');
      this.headers.set('authorization', authorization.get('authorization'));
    }
    this.fetch = given.fetch === undefined ? (...request) => globalThis.fetch(...request) : expect(given.fetch, 'function', 'fetch');
    this.retries = given.maxRetries ?? 2;
    if (!Number.isInteger(this.retries) || this.retries < 0) throw new TypeError(`maxRetries must be a whole number from 0, not ${String(this.retries)}`);
    this.timeoutMs = positive(given.timeoutMs, 'timeoutMs');
    this.firstPauseMs = FIRST_PAUSE_MS * (positive(given.backoffFactor, 'backoffFactor') || 1);
  }

  /**
   * Sends a request and returns the parsed response; retries while the failure is transient and a retry is safe.
   * `body` is text or a form.
   */
  async send(method, path, { body, headers, signal, repeatable = method === 'GET' || method === 'DELETE' } = {}) {
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await this.#attempt(method, path, body, headers, signal);
      } catch (failure) {
        signal?.throwIfAborted();
        const pauseMs = this.#pause(failure, attempt, repeatable);
        if (pauseMs === undefined) throw failure;
        await wait(pauseMs, signal);
      }
    }
  }

  /** Returns how long to wait before a retry; `undefined` if there is none. */
  #pause(failure, attempt, repeatable) {
    const { status, retryAfterMs } = failure;
    const isNetwork = failure instanceof NetworkError && status === undefined;
    if (attempt >= this.retries || !(status === 429 || (repeatable && (isNetwork || status >= 500)))) return undefined;
    if (retryAfterMs !== undefined) return retryAfterMs <= (this.timeoutMs ?? LONGEST_RETRY_AFTER_MS) ? retryAfterMs : undefined;
    return Math.min(this.firstPauseMs * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
  }

  async #attempt(method, path, body, more, signal) {
    const headers = new Headers(this.headers);
    if (typeof body === 'string') headers.set('content-type', 'application/json');
    if (more) headersOf(more, 'a header').forEach((value, name) => headers.set(name, value));
    const limit = timeLimit(this.timeoutMs);
    let response, text;
    try {
      response = await this.fetch(this.apiUrl + path, { method, headers, body, signal: either(limit, signal) });
      text = await response.text();
    } catch (cause) {
      if (limit?.aborted) throw new NetworkError({ code: 'TIMEOUT', message: `No response within ${this.timeoutMs} ms.` }, { cause });
      throw new NetworkError({ code: 'NO_RESPONSE', message: `The server did not respond: ${reason(cause)}` }, { cause });
    }
    return read(response, text);
  }
}

/** Returns the body of a successful response; throws for any other. */
function read(response, text) {
  const { status } = response;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // Handled below.
  }
  if (body === null || typeof body !== 'object') {
    const message = `The response (HTTP ${status}) is not from this API: ${text.slice(0, ERROR_CHARS)}`;
    throw new NetworkError({ status, code: 'UNREADABLE_RESPONSE', message, requestId, retryAfterMs: retryAfter(response) });
  }
  if (response.ok && body.success !== false) return body;
  const { error: message = `HTTP ${status}`, code, details, jobId } = body;
  throw errorOf({ status, code, message, details, jobId, requestId, retryAfterMs: retryAfter(response) ?? (status === 429 ? 1000 : undefined) });
}

/** Returns `Retry-After` in ms: a number of seconds or a date. */
export function retryAfter({ headers }) {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Returns the message of a failed fetch with its cause. */
export const reason = (error) => [error?.message ?? String(error), error?.cause?.code ?? error?.cause?.message].filter(Boolean).join(': ');

/** Returns a signal that aborts after `ms`; `undefined` without a limit. */
export const timeLimit = (ms) => (ms === undefined || ms > LONGEST_TIMER_MS ? undefined : AbortSignal.timeout(ms));

/** Runs a task with a signal that aborts after `ms`. Unlike that of `timeLimit`, its timer ends with the task. */
export async function within(ms, run) {
  const limit = new AbortController();
  const timer = ms > LONGEST_TIMER_MS ? undefined : setTimeout(() => limit.abort(), ms);
  try {
    return await run(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a signal that aborts when the first of two signals does; either may be absent. */
export const either = (first, second) => (first && second ? AbortSignal.any([first, second]) : (first ?? second));

/** Resolves after `ms`, or rejects when the signal is aborted. */
export function wait(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener('abort', stop, { once: true });
  });
}
