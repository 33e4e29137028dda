// Error classes.

const BRAND = Symbol.for('harvestman.error');

/** Base class of the package's errors. Wrong argument types throw a TypeError; aborts are rethrown unchanged. */
export class HarvestmanError extends Error {
  static {
    define(this, 'HarvestmanError', []);
  }

  constructor({ message, ...fields }, options) {
    super(message, options);
    for (const name in fields) if (fields[name] !== undefined && fields[name] !== null) this[name] = fields[name];
  }

  // By brand, so that `instanceof` also works with errors of another copy of this package.
  static [Symbol.hasInstance](value) {
    return value?.[BRAND]?.includes(this.prototype.name) ?? false;
  }
}

// Names are literals: minifiers rename classes.
function define(type, name, brands) {
  Object.defineProperties(type.prototype, {
    name: { value: name, configurable: true, writable: true },
    [BRAND]: { value: [...brands, name] },
  });
  return type;
}
const subclass = (name) => /* @__PURE__ */ define(class extends HarvestmanError {}, name, ['HarvestmanError']);

/** The request is invalid. It was rejected by the server or before it was sent. */
export const ValidationError = /* @__PURE__ */ subclass('ValidationError');
/** The key is missing or unknown. */
export const AuthError = /* @__PURE__ */ subclass('AuthError');
/** Not enough credits. */
export const PaymentRequiredError = /* @__PURE__ */ subclass('PaymentRequiredError');
/** Rate limited, even after retries. `retryAfterMs` is the time to wait. */
export const RateLimitError = /* @__PURE__ */ subclass('RateLimitError');
/** No response, or a response that is not from this API. */
export const NetworkError = /* @__PURE__ */ subclass('NetworkError');
/** The job did not end within the timeout; it continues on the server. */
export const JobTimeoutError = /* @__PURE__ */ subclass('JobTimeoutError');

const CLASSES = {
  400: ValidationError,
  401: AuthError,
  402: PaymentRequiredError,
  409: ValidationError,
  413: ValidationError,
  429: RateLimitError,
};

/** Returns the error for a failed response of the server. */
export const errorOf = (failure) => new (CLASSES[failure.status] ?? HarvestmanError)(failure);

/** Returns the error for a failure that the wasm threw. */
export function wasmError(thrown) {
  if (typeof thrown === 'string') return new ValidationError(JSON.parse(thrown));
  if (!(thrown instanceof WebAssembly.RuntimeError)) return thrown;
  return new HarvestmanError({ code: 'INTERNAL', message: `internal error: ${thrown.message}` }, { cause: thrown });
}

/** Returns the value if it has the type, else throws a TypeError. */
export function expect(value, type, name) {
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (actual !== type) throw new TypeError(`${name} must be ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}, not ${actual}`);
  return value;
}

/** Returns an options object, which may be absent. */
export const options = (value, name = 'options') => (value === undefined || value === null ? {} : expect(value, 'object', name));

/** Returns the text of a URL. */
export const urlText = (value, name = 'url') => (value instanceof URL ? value.href : expect(value, 'string', name));

/** Returns a number from 0, which may be absent. */
export function positive(value, name) {
  if (value === undefined || value === null) return undefined;
  if (!(expect(value, 'number', name) >= 0)) throw new TypeError(`${name} must be a number from 0, not ${value}`);
  return value;
}
