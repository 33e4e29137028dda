// The wasm, instantiated when it is first used.
import * as glue from './glue.js';
import { HarvestmanError, wasmError } from './errors.js';

let source;
let ready = false;
let loading;

/** Sets how the wasm is found: a function that returns bytes or a module, or a promise, a response or a URL of it. */
export function setSource(get) {
  source ??= get;
}

/** Instantiates the wasm from bytes or a module. */
export function initSync(module) {
  if (ready) return;
  glue.initSync({ module });
  ready = true;
}

/** Loads the wasm from anything that `setSource` may return. */
export async function init(given) {
  if (ready) return;
  await glue.default({ module_or_path: await given });
  ready = true;
}

/** Resolves when synchronous functions can be called. */
export function load() {
  if (ready) return Promise.resolve();
  if (!source) return Promise.reject(notLoaded());
  loading ??= init(source()).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Calls a function of the wasm and converts what it throws. */
export function call(run) {
  if (!ready) {
    const module = source?.();
    if (!(module instanceof Uint8Array || module instanceof WebAssembly.Module)) throw notLoaded();
    initSync(module);
  }
  try {
    return run(glue);
  } catch (thrown) {
    throw wasmError(thrown);
  }
}

const notLoaded = () => new HarvestmanError({
  code: 'NOT_LOADED',
  message: 'The wasm is not loaded: `await ready()` first (`await init(...)` with harvestman/slim), or import harvestman/inline.',
});

/** Base of classes that own memory in the wasm, which is freed with the object, or earlier with `free`. */
export class Owned {
  #object;
  constructor(create) {
    this.#object = call(create);
  }
  use(run) {
    if (!this.#object) throw new TypeError('the object has been freed');
    return call(() => run(this.#object));
  }
  free() {
    this.#object?.free();
    this.#object = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}
