// Keeps the latest results of requests in the cache storage of this browser, so that their URL shows them again.

const NAME = "harvestman-results";
const KEPT = 30;
const path = (id) => `/console/results/${encodeURIComponent(id)}`;

/** Stores a text under an id. Returns whether the browser could store it. */
export async function keep(id, text) {
  try {
    const cache = await caches.open(NAME);
    await cache.put(path(id), new Response(text));
    const keys = await cache.keys();
    for (const old of keys.slice(0, Math.max(0, keys.length - KEPT))) await cache.delete(old);
    return true;
  } catch {
    return false;
  }
}

/** Returns the text of an id; undefined if it is not stored. */
export async function find(id) {
  try {
    const found = await (await caches.open(NAME)).match(path(id));
    return await found?.text();
  } catch {
    return undefined;
  }
}

/** Removes every stored text. */
export async function forget() {
  try {
    await caches.delete(NAME);
  } catch {
    // Without cache storage there is nothing to remove.
  }
}
