// Browsers and bundlers: loads a wasm file, an asset next to this module, when it is needed.
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => new URL('./harvestman.wasm', import.meta.url));
crawls.setSource(() => new URL('./crawl.wasm', import.meta.url));
pages.setSource(() => new URL('./pages.wasm', import.meta.url));
charsets.setSource(() => new URL('./charsets.wasm', import.meta.url));

export * from './api.js';
export { default } from './api.js';
