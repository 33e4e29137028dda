// harvestman.wasm: checks of requests, rules of crawls, plans, webhooks.
import * as glue from './glue.js';
import { Loader } from './loader.js';

export const wasm = /* @__PURE__ */ new Loader(glue, 'harvestman.wasm', '`await ready()` first (`await init(...)` with harvestman/slim)');
