// Node.js, Deno, Bun: reads a wasm file next to this module when it is needed.
import { readFileSync } from 'node:fs';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => readFileSync(new URL('./harvestman.wasm', import.meta.url)));
pages.setSource(() => readFileSync(new URL('./pages.wasm', import.meta.url)));

export * from './api.js';
export { default } from './api.js';
