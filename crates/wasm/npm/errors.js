// Error classes, and calls with retries.

const BRAND = Symbol.for('harvestman.error');
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Base class of everything that this package throws, except an abort, which is rethrown unchanged. */
export class HarvestmanError extends Error {
  constructor({ message, status, code, details, jobId }, options) {
    super(message, options);
    this.name = new.target.name;
    Object.assign(this, { status, code, details, jobId });
    Object.defineProperty(this, BRAND, { value: brands(new.target) });
  }

  // By brand, so that `instanceof` also works with errors of another copy of this package.
  static [Symbol.hasInstance](value) {
    return value?.[BRAND]?.includes(this.brand) ?? false;
  }

  static brand = 'error';
}

/** The request is invalid. It was rejected by the server or before it was sent. */
export class ValidationError extends HarvestmanError {
  static brand = 'validation';
}
/** The key is missing or unknown. */
export class AuthError extends HarvestmanError {
  static brand = 'auth';
}
/** Not enough credits. */
export class PaymentRequiredError extends HarvestmanError {
  static brand = 'payment';
}
/** Rate limited, even after retries. `retryAfterMs` is the time to wait. */
export class RateLimitError extends HarvestmanError {
  static brand = 'rate';
  constructor(failure, options) {
    super(failure, options);
    this.retryAfterMs = (failure.retryAfterSeconds ?? 1) * 1000;
  }
}
/** No response, or a response that is not from this API. */
export class NetworkError extends HarvestmanError {
  static brand = 'network';
}
/** The job did not end within the timeout; it continues on the server. */
export class JobTimeoutError extends HarvestmanError {
  static brand = 'timeout';
  constructor(jobId, timeoutMs) {
    super({ code: 'JOB_TIMEOUT', message: `The job ${jobId} did not end within ${timeoutMs} ms; it continues on the server.`, jobId });
  }
}

function brands(kind) {
  const found = [];
  for (let one = kind; one?.brand; one = Object.getPrototypeOf(one)) {
    if (Object.hasOwn(one, 'brand')) found.push(one.brand);
  }
  return found;
}

/** Converts a failure thrown by the wasm to an error class; returns anything else unchanged. */
export function toError(failure) {
  switch (failure?.kind) {
    case 'input':
      return new ValidationError(failure);
    case 'api':
      return new (classOf(failure.status))(failure);
    case 'network':
    case 'unreadable':
      return new NetworkError(failure);
    default:
      return failure;
  }
}

function classOf(status) {
  switch (status) {
    case 400:
    case 409:
    case 413:
      return ValidationError;
    case 401:
      return AuthError;
    case 402:
      return PaymentRequiredError;
    case 429:
      return RateLimitError;
    default:
      return HarvestmanError;
  }
}

/** Runs a synchronous wasm function and converts its failures. */
export function guarded(run) {
  try {
    return run();
  } catch (failure) {
    throw toError(failure);
  }
}

/** Runs a call, and retries it while the failure is transient and a retry is safe. */
export async function calling(call, { signal, timeoutMs, retries, repeatable }) {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const both = limit && signal ? AbortSignal.any([limit, signal]) : (limit ?? signal);
    try {
      return await call(both);
    } catch (failure) {
      signal?.throwIfAborted();
      if (limit?.aborted) throw new NetworkError({ code: 'TIMEOUT', message: `No response within ${timeoutMs} ms.` });
      if (attempt >= retries || !isTransient(failure, repeatable)) throw toError(failure);
      await wait(pause(attempt, failure.retryAfterSeconds), signal);
    }
  }
}

function isTransient({ kind, status }, repeatable) {
  if (kind === 'api' && status === 429) return true;
  return repeatable && (kind === 'network' || ((kind === 'api' || kind === 'unreadable') && status >= 500));
}

function pause(attempt, retryAfterSeconds) {
  if (retryAfterSeconds !== undefined && retryAfterSeconds !== null) return retryAfterSeconds * 1000;
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
  return longest * (0.5 + Math.random() / 2);
}

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
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
