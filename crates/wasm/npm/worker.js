// Workers that import wasm as a compiled module.
import module from './harvestman.wasm';
import { initSync } from './glue.js';

initSync({ module });

export * from './api.js';
export { Harvestman as default } from './api.js';
