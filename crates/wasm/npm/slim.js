// The same package with loading by hand: `await init(bytes | module | response | url)` or `initSync(bytes | module)`,
// and `initPages` or `initPagesSync` before pages are converted or crawled.
import { pages } from './pages.js';
import { wasm } from './wasm.js';

export const init = (source) => wasm.init(source);
export const initSync = (source) => wasm.initSync(source);
export const initPages = (source) => pages.init(source);
export const initPagesSync = (source) => pages.initSync(source);
export * from './api.js';
export { default } from './api.js';
