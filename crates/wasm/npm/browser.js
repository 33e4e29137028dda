// Browsers and bundlers: loads the wasm file as an asset next to this module.
import init from './glue.js';

await init({ module_or_path: new URL('./harvestman.wasm', import.meta.url) });

export * from './api.js';
export { Harvestman as default } from './api.js';
