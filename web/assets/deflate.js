// Compresses text with the deflate of the browser.

/** Returns the text in UTF-8 as raw deflate data, or undefined if the browser cannot compress. */
export async function deflate(text) {
  try {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    return undefined;
  }
}
