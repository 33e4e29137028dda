// Workers that import wasm as a compiled module.
import module from './harvestman.wasm';
import { initSync } from './glue.js';

initSync({ module });

export * from './skin.js';
export { Harvestman as default } from './skin.js';
