export * from './index.js';
export { default } from './index.js';

type Global<Name extends string> = typeof globalThis extends Record<Name, abstract new (...args: any) => infer Type> ? Type : never;
/** Bytes, or a compiled module. */
export type Source =
  | ArrayBuffer
  | ArrayBufferView
  | (typeof globalThis extends { WebAssembly: { Module: abstract new (...args: any) => infer Type } } ? Type : never);
/** Loads harvestman.wasm. Must complete before synchronous functions are called. */
export declare function init(source: Source | Global<'Response'> | Promise<Source | Global<'Response'>> | Global<'URL'> | string): Promise<void>;
/** Loads harvestman.wasm synchronously. */
export declare function initSync(source: Source): void;
/** Loads pages.wasm, for `htmlToMarkdown`, `cleanHtml`, `extractLinks`, `extractMetadata` and `LocalCrawler`. */
export declare function initPages(source: Parameters<typeof init>[0]): Promise<void>;
/** Loads pages.wasm synchronously. */
export declare function initPagesSync(source: Source): void;
