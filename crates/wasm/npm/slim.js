// The same package, loaded manually: `await init(bytes | module | response | url)` or `initSync(bytes | module)`,
// `initPages` and `initCrawl` (or the same with `Sync`) before pages are converted and crawled, and `initCharsets` for
// pages in charsets other than UTF-8, UTF-16 and windows-1252.
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

export const init = (source) => wasm.init(source);
export const initSync = (source) => wasm.initSync(source);
export const initCrawl = (source) => crawls.init(source);
export const initCrawlSync = (source) => crawls.initSync(source);
export const initPages = (source) => pages.init(source);
export const initPagesSync = (source) => pages.initSync(source);
export const initCharsets = (source) => charsets.init(source);
export const initCharsetsSync = (source) => charsets.initSync(source);
export * from './api.js';
export { default } from './api.js';
