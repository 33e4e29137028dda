export * from './index.js';
export { default } from './index.js';

export type Source = ArrayBuffer | ArrayBufferView | WebAssembly.Module;
/** Must have ended before anything else of this package is used. */
export declare function init(source: Source | Response | Promise<Response> | URL | string): Promise<void>;
/** The same without waiting. */
export declare function initSync(source: Source): void;
