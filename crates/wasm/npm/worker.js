// Workers that import wasm as a compiled module.
import module from './harvestman.wasm';
import { setSource } from './wasm.js';

setSource(() => module);

export * from './api.js';
export { default } from './api.js';
