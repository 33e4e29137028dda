// Jobs with the JavaScript client: waiting, pagination, watching, cancelling.
// Usage: javascript_jobs.mjs API_URL API_KEY SITE_URL PAGES LARGE_SITE_URL LARGE_PAGES, where the site has PAGES pages
// below SITE_URL, and the large site does not fit into one status response.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, site, pagesText, largeSite, largeText] = process.argv.slice(2);
const [pages, largePages] = [Number(pagesText), Number(largeText)];
const client = new Firecrawl({ apiKey, apiUrl });

function addresses(documents) {
  const found = documents.map((document) => document.metadata.url);
  assert.equal(new Set(found).size, found.length, "a page was returned twice");
  return found;
}

// Responses of at most 10 MiB, joined or page by page.
const large = await client.crawl(largeSite, {
  limit: largePages, sitemap: "skip", scrapeOptions: { formats: ["rawHtml"] }, pollInterval: 1, timeout: 120,
});
const everything = addresses(large.data);
assert.equal(everything.length, largePages);
assert.ok(large.data.every((document) => document.rawHtml.length > 1_000_000));
const first = await client.getCrawlStatus(large.id, { autoPaginate: false });
assert.ok(1 < first.data.length && first.data.length < largePages);
assert.ok(first.next.startsWith(apiUrl), first.next);
for (const [limits, expected] of [
  [{ maxPages: 0 }, first.data.length],
  [{ maxResults: first.data.length + 1 }, first.data.length + 1],
  [{ maxWaitTime: 60 }, largePages],
  [{ maxPages: 100 }, largePages],
]) {
  const some = await client.getCrawlStatus(large.id, limits);
  assert.deepEqual(addresses(some.data), everything.slice(0, expected), JSON.stringify(limits));
}

// The status of a running job, followed to its end, has every page once.
const followed = await client.startCrawl(site, { limit: 5, delay: 0.2, sitemap: "skip" });
const running = await client.getCrawlStatus(followed.id, { maxPages: 0 });
assert.equal(running.status, "scraping");
assert.equal(addresses((await client.getCrawlStatus(followed.id)).data).length, 5);

// Method names of earlier versions.
assert.equal((await client.crawlUrl(site, { limit: 2, sitemap: "skip" })).data.length, 2);
assert.equal((await client.checkCrawlStatus(followed.id)).completed, 5);
assert.deepEqual((await client.checkCrawlErrors(followed.id)).errors, []);
assert.ok((await client.asyncCrawlUrl(site, { limit: 1 })).id);

// A watcher gets each page once, in order, over the socket; then the end.
const watched = await client.startCrawl(site, { limit: 6, delay: 0.2, sitemap: "skip" });
const watcher = client.watcher(watched.id, { kind: "crawl", pollInterval: 30, timeout: 60 });
const [seen, snapshots] = [[], []];
watcher.on("document", (document) => seen.push(document));
watcher.on("snapshot", (snapshot) => snapshots.push(snapshot));
const done = once(watcher, "done");
await watcher.start();
const [end] = await done;
assert.deepEqual([end.status, end.completed, end.total, end.creditsUsed], ["completed", 6, 6, 6]);
assert.equal(snapshots[0].status, "scraping");
assert.ok(seen.every((document) => document.id === watched.id && document.markdown));
assert.deepEqual(addresses(seen), addresses((await client.getCrawlStatus(watched.id)).data));

// A watcher of a finished job gets everything at once.
const again = client.watcher(large.id, { pollInterval: 30, timeout: 60 });
const received = [];
again.on("document", (document) => received.push(document));
const all = once(again, "done");
await again.start();
await all;
assert.deepEqual(addresses(received.slice(0, first.data.length)), addresses(first.data));

// A watcher of a cancelled job gets an error.
const cancelled = await client.startCrawl(site, { limit: pages, delay: 1, sitemap: "skip" });
const hopeless = client.watcher(cancelled.id, { pollInterval: 30, timeout: 60 });
const failed = new Promise((resolve) => hopeless.on("error", resolve));
hopeless.on("document", () => client.cancelCrawl(cancelled.id));
hopeless.start();
assert.match((await failed).error, /cancelled/);
hopeless.close();

console.log("javascript jobs: ok");
process.exit(0);
