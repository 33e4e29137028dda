// Node.js, Deno, Bun: reads the wasm file next to this module when it is needed.
import { readFileSync } from 'node:fs';
import { setSource } from './wasm.js';

setSource(() => readFileSync(new URL('./harvestman.wasm', import.meta.url)));

export * from './api.js';
export { default } from './api.js';
