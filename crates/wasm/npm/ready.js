// Loads what synchronous functions need.
import { charsets } from './charsets.js';
import { options } from './errors.js';
import { pages } from './pages.js';
import { wasm } from './wasm.js';

export const ready = async (given) => {
  await Promise.all([wasm, pages, ...(options(given).charsets ? [charsets] : [])].map((module) => module.load()));
};
