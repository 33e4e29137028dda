// crawl.wasm: the crawl without a server. Loaded only when one is started.
import * as glue from './crawl_glue.js';
import { Loader } from './loader.js';

export const crawls = /* @__PURE__ */ new Loader(glue, 'crawl.wasm', '`await initCrawl(...)` with harvestman/slim first');
