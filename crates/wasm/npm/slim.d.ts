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
/** Loads pages.wasm, for `htmlToMarkdown`, `cleanHtml`, `extractLinks`, `extractMetadata` and, with crawl.wasm, `LocalCrawler`. */
export declare function initPages(source: Parameters<typeof init>[0]): Promise<void>;
/** Loads pages.wasm synchronously. */
export declare function initPagesSync(source: Source): void;
/** Loads charsets.wasm, for bytes in charsets other than UTF-8, UTF-16 and windows-1252. */
export declare function initCharsets(source: Parameters<typeof init>[0]): Promise<void>;
/** Loads charsets.wasm synchronously. */
export declare function initCharsetsSync(source: Source): void;
/** Loads crawl.wasm, which `LocalCrawler` needs besides pages.wasm. */
export declare function initCrawl(source: Parameters<typeof init>[0]): Promise<void>;
/** Loads crawl.wasm synchronously. */
export declare function initCrawlSync(source: Source): void;
