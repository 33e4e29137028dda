// The same package with loading by hand: `await init(bytes | module | response | url)` or `initSync(bytes | module)`.
export { init, initSync } from './wasm.js';
export * from './api.js';
export { default } from './api.js';
