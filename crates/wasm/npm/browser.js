// Browsers and bundlers: loads the wasm file, an asset next to this module, when it is needed.
import { setSource } from './wasm.js';

setSource(() => new URL('./harvestman.wasm', import.meta.url));

export * from './api.js';
export { default } from './api.js';
