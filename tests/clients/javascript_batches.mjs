// Batch scrapes, webhooks and idempotency keys with the JavaScript client.
// Usage: javascript_batches.mjs API_URL API_KEY RECEIVER_URL NEVER_URL PAGE_URLS LARGE_PAGE_URLS: a webhook receiver, a
// page that never responds, lists of URLs separated by spaces.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, receiver, never, pagesText, largeText] = process.argv.slice(2);
const [pages, largePages] = [pagesText.split(" "), largeText.split(" ")];
const client = new Firecrawl({ apiKey, apiUrl });
const waiting = { pollInterval: 1, timeout: 60 };
const closed = "http://127.0.0.1:1/";

function addresses(documents) {
  const found = documents.map((document) => document.metadata.sourceURL);
  assert.equal(new Set(found).size, found.length, "a page was returned twice");
  return found;
}

async function until(id, reached) {
  for (;;) {
    // Without pagination, because the client follows a running job to its end.
    const job = await client.getBatchScrapeStatus(id, { autoPaginate: false });
    if (reached(job)) return job;
  }
}

// Start and wait.
const job = await client.batchScrape(pages, { options: { formats: ["markdown", "links"] }, maxConcurrency: 3, ...waiting });
assert.deepEqual([job.status, job.completed, job.total, job.creditsUsed], ["completed", ...Array(3).fill(pages.length)]);
assert.deepEqual(addresses(job.data).sort(), pages.toSorted());
assert.ok(job.data.every((document) => document.markdown && document.links) && job.next === null && job.expiresAt);

// Invalid URLs.
const some = await client.startBatchScrape([pages[0], "ftp://a.test/", "", pages[0]], { ignoreInvalidURLs: true });
assert.deepEqual(some.invalidURLs, ["ftp://a.test/", ""]);
assert.ok(some.url.endsWith(`/v2/batch/scrape/${some.id}`));
const strict = client.startBatchScrape([pages[0], "ftp://a.test/"], { ignoreInvalidURLs: false });
await assert.rejects(strict, (error) => error.status === 400 && error.details[0].path[1] === 1);
await assert.rejects(client.startBatchScrape(["ftp://a.test/"]), { status: 400 });

// Added pages; a page that cannot be fetched.
const started = await client.startBatchScrape(pages.slice(0, 2), { options: { formats: ["html"] } });
const more = await client.startBatchScrape([...pages.slice(1, 4), closed], { appendToId: started.id });
assert.deepEqual([more.id, more.url], [started.id, started.url]);
const ended = await until(started.id, (job) => job.status !== "scraping");
assert.deepEqual([ended.status, ended.completed, ended.total], ["completed", 4, 5]);
assert.deepEqual(addresses(ended.data).sort(), pages.slice(0, 4).sort());
const { errors, robotsBlocked } = await client.getBatchScrapeErrors(started.id);
assert.deepEqual(errors.map(({ url, code }) => [url, code]), [[closed, "SCRAPE_SITE_ERROR"]]);
assert.deepEqual(robotsBlocked, []);
await assert.rejects(client.cancelBatchScrape(started.id), { status: 409 });
await assert.rejects(client.getBatchScrapeStatus("018f2f9e-0000-7000-8000-000000000001"), { status: 404 });

// Cancel.
const running = await client.startBatchScrape([...pages.slice(0, 2), never]);
await until(running.id, (job) => job.completed === 2);
assert.ok(!(await client.getActiveCrawls()).crawls.some((crawl) => crawl.id === running.id));
const hopeless = client.watcher(running.id, { kind: "batch", pollInterval: 30, timeout: 60 });
const failed = new Promise((resolve) => hopeless.on("error", resolve));
const looked = once(hopeless, "snapshot");
hopeless.start();
assert.equal((await looked)[0].status, "scraping");
assert.equal(await client.cancelBatchScrape(running.id), true);
assert.equal(await client.cancelBatchScrape(running.id), true);
assert.match((await failed).error, /cancelled/);
hopeless.close();
assert.equal((await client.getBatchScrapeStatus(running.id)).status, "cancelled");

// Responses of at most 10 MiB.
const large = await client.batchScrape(largePages, { options: { formats: ["rawHtml"] }, pollInterval: 1, timeout: 120 });
assert.deepEqual(addresses(large.data).sort(), largePages.toSorted());
const first = await client.getBatchScrapeStatus(large.id, { autoPaginate: false });
assert.ok(1 < first.data.length && first.data.length < largePages.length);
assert.ok(first.next.startsWith(`${apiUrl}/v2/batch/scrape/${large.id}?skip=`), first.next);
const bounded = await client.getBatchScrapeStatus(large.id, { maxResults: first.data.length + 1 });
assert.deepEqual(addresses(bounded.data), addresses(large.data).slice(0, first.data.length + 1));

// Idempotency keys: the same request returns the same job.
const key = { idempotencyKey: "once" };
const onlyOnce = await client.startBatchScrape(pages.slice(0, 2), key);
assert.equal((await client.startBatchScrape(pages.slice(0, 2), key)).id, onlyOnce.id);
await assert.rejects(client.startBatchScrape(pages.slice(0, 3), key), { status: 409, code: "IDEMPOTENCY_KEY_REUSED" });

// A watcher.
const watched = await client.startBatchScrape(pages.slice(0, 5), { maxConcurrency: 1 });
const watcher = client.watcher(watched.id, { kind: "batch", pollInterval: 30, timeout: 60 });
const seen = [];
watcher.on("document", (document) => seen.push(document));
const done = once(watcher, "done");
await watcher.start();
const [end] = await done;
assert.deepEqual([end.status, end.completed, end.total], ["completed", 5, 5]);
assert.deepEqual(addresses(seen), addresses((await client.getBatchScrapeStatus(watched.id)).data));

// Method names of earlier versions.
assert.equal((await client.batchScrapeUrls(pages.slice(0, 2), waiting)).completed, 2);
assert.equal((await client.checkBatchScrapeStatus(watched.id)).completed, 5);
assert.deepEqual((await client.checkBatchScrapeErrors(watched.id)).errors, []);
assert.ok((await client.asyncBatchScrapeUrls(pages.slice(0, 1))).id);

// Crawl options from a prompt.
const proposed = await client.crawlParamsPreview(pages[0], "only the blog, at most 20 pages, 2 levels deep");
assert.deepEqual([proposed.limit, proposed.maxDiscoveryDepth, proposed.includePaths.length], [20, 2, 2]);
assert.ok((await client.crawlParamsPreview(pages[0], "surprise me")).warning);

// Webhook events.
const webhook = { url: receiver, headers: { "X-From": "client" }, metadata: { from: "client" }, events: ["started", "page", "completed"] };
await client.batchScrape(pages.slice(0, 3), { webhook, ...waiting });
await client.crawl(pages[0], { limit: 2, webhook: { ...webhook, events: undefined }, ...waiting });

console.log("javascript batches: ok");
process.exit(0);
