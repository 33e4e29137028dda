// Files to upload, and bytes from JavaScript values.
import { expect } from './errors.js';

const encoder = /* @__PURE__ */ new TextEncoder();

/** Returns the bytes of text, a buffer or a view, without a copy if possible. */
export function bytesOf(value, name) {
  if (typeof value === 'string') return encoder.encode(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new TypeError(`${name} must be a string, an ArrayBuffer or a view of one`);
}

/** Returns a blob with its file name, made from a File or from an object with `data` and `filename`. */
export async function fileOf(file) {
  if (file instanceof Blob) return { blob: file, filename: nameOf(file.name) };
  const { data, filename, contentType } = expect(file, 'object', 'file');
  return { blob: await blobOf(data, contentType), filename: nameOf(filename ?? data?.name) };
}

function nameOf(filename) {
  if (typeof filename === 'string' && filename.trim()) return filename.trim();
  throw new TypeError('file must have a name: pass a File, or { data, filename }');
}

async function blobOf(data, type) {
  if (data instanceof Blob) return type && type !== data.type ? new Blob([data], { type }) : data;
  if (data?.[Symbol.asyncIterator] ?? data?.getReader) {
    const chunks = [];
    for await (const chunk of iterable(data)) chunks.push(bytesOf(chunk, 'a chunk of the file'));
    return new Blob(chunks, { type });
  }
  return new Blob([bytesOf(data, 'file.data')], { type });
}

/** Iterates over a stream; Safari has no async iteration of streams. */
async function* iterable(stream) {
  if (stream[Symbol.asyncIterator]) return yield* stream;
  const reader = stream.getReader();
  for (let part; !(part = await reader.read()).done; ) yield part.value;
}
