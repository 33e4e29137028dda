// Loads what synchronous functions need.
import { pages } from './pages.js';
import { wasm } from './wasm.js';

export const ready = async () => {
  await Promise.all([wasm.load(), pages.load()]);
};
