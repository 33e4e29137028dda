// Node.js, Deno, Bun: reads a wasm file next to this module when it is needed.
import { readFileSync } from 'node:fs';
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => readFileSync(new URL('./harvestman.wasm', import.meta.url)));
crawls.setSource(() => readFileSync(new URL('./crawl.wasm', import.meta.url)));
pages.setSource(() => readFileSync(new URL('./pages.wasm', import.meta.url)));
charsets.setSource(() => readFileSync(new URL('./charsets.wasm', import.meta.url)));

export * from './api.js';
export { default } from './api.js';
