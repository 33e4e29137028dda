// Node.js, Deno, Bun: reads the wasm file next to this module.
import { readFileSync } from 'node:fs';
import { initSync } from './glue.js';

initSync({ module: readFileSync(new URL('./harvestman.wasm', import.meta.url)) });

export * from './api.js';
export { Harvestman as default } from './api.js';
