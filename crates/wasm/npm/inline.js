// The wasm inside the JavaScript. The build replaces the imports by the text of the packed files in base64.
import wasmText from './harvestman.wasm.deflate';
import pagesText from './pages.wasm.deflate';
import charsetsText from './charsets.wasm.deflate';
import crawlText from './crawl.wasm.deflate';
import { charsets } from './charsets.js';
import { crawls } from './crawl.js';
import { inflate } from './inflate.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

const unpacked = (text) => inflate(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
wasm.setSource(() => unpacked(wasmText));
crawls.setSource(() => unpacked(crawlText));
pages.setSource(() => unpacked(pagesText));
charsets.setSource(() => unpacked(charsetsText));

export * from './api.js';
export { default } from './api.js';
