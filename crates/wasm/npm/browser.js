// Browsers and bundlers: loads a wasm file, an asset next to this module, when it is needed.
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => new URL('./harvestman.wasm', import.meta.url));
pages.setSource(() => new URL('./pages.wasm', import.meta.url));

export * from './api.js';
export { default } from './api.js';
