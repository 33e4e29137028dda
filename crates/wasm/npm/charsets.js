// charsets.wasm: decoding of pages in charsets other than UTF-8, UTF-16 and windows-1252. Loaded only for such a page.
import * as glue from './charsets_glue.js';
import { Loader } from './loader.js';

export const charsets = /* @__PURE__ */ new Loader(
  glue,
  'charsets.wasm',
  'the bytes are not in UTF-8, UTF-16 or windows-1252, and declare another charset or none; `await ready({ charsets: true })` first (`await initCharsets(...)` with harvestman/slim), pass text',
);
