// Workers that import wasm as a compiled module.
import charsetsModule from './charsets.wasm';
import crawlModule from './crawl.wasm';
import module from './harvestman.wasm';
import pagesModule from './pages.wasm';
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => module);
crawls.setSource(() => crawlModule);
pages.setSource(() => pagesModule);
charsets.setSource(() => charsetsModule);

export * from './api.js';
export { default } from './api.js';
