// A wasm module, instantiated when it is first used.
import { HarvestmanError, wasmError } from './errors.js';

export class Loader {
  #glue;
  #file;
  #hint;
  #source;
  #isReady = false;
  #loading;

  /** `glue` is what wasm-bindgen generated for the file; `hint` says how to load it. */
  constructor(glue, file, hint) {
    this.#glue = glue;
    this.#file = file;
    this.#hint = hint;
  }

  /** Sets how the wasm is found: a function that returns bytes or a module, or a promise, a response or a URL of it. */
  setSource(get) {
    this.#source ??= get;
  }

  /** Instantiates the wasm from bytes or a module. */
  initSync(module) {
    if (this.#isReady) return;
    this.#glue.initSync({ module });
    this.#isReady = true;
  }

  /** Loads the wasm from anything that `setSource` may return. */
  async init(given) {
    if (this.#isReady) return;
    await this.#glue.default({ module_or_path: await given });
    this.#isReady = true;
  }

  /** Resolves when synchronous functions can be called. */
  load() {
    if (this.#isReady) return Promise.resolve();
    if (!this.#source) return Promise.reject(this.#notLoaded());
    this.#loading ??= this.init(this.#source()).catch((error) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Calls a function of the wasm and converts what it throws. */
  call(run) {
    if (!this.#isReady) {
      const module = this.#source?.();
      if (!(module instanceof Uint8Array || module instanceof WebAssembly.Module)) throw this.#notLoaded();
      this.initSync(module);
    }
    try {
      return run(this.#glue);
    } catch (thrown) {
      throw wasmError(thrown);
    }
  }

  #notLoaded() {
    return new HarvestmanError({
      code: 'NOT_LOADED',
      message: `${this.#file} is not loaded: ${this.#hint}, or import harvestman/inline.`,
    });
  }
}

/** Base of classes that own memory in a wasm module, which is freed with the object, or earlier with `free`. */
export class Owned {
  #loader;
  #object;
  constructor(loader, create) {
    this.#loader = loader;
    this.#object = loader.call(create);
  }
  use(run) {
    if (!this.#object) throw new TypeError('the object has been freed');
    return this.#loader.call(() => run(this.#object));
  }
  free() {
    this.#object?.free();
    this.#object = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}
