// The wasm inside the JavaScript. The build replaces the import by the text of the file in base64.
import wasm from './harvestman.wasm?base64';
import { setSource } from './wasm.js';

setSource(() => Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0)));

export * from './api.js';
export { default } from './api.js';
