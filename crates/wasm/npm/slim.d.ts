export * from './index.js';
export { default } from './index.js';

export type Source = ArrayBuffer | ArrayBufferView | WebAssembly.Module;
/** Loads the wasm. Must complete before anything else in this package is used. */
export declare function init(source: Source | Response | Promise<Response> | URL | string): Promise<void>;
/** Loads the wasm synchronously. */
export declare function initSync(source: Source): void;
