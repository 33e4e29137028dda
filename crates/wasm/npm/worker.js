// Workers that import wasm as a compiled module.
import module from './harvestman.wasm';
import pagesModule from './pages.wasm';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

wasm.setSource(() => module);
pages.setSource(() => pagesModule);

export * from './api.js';
export { default } from './api.js';
