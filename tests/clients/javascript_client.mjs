// The JavaScript client with a running server: scrape, crawl and map.
// Usage: javascript_client.mjs API_URL API_KEY SITE_URL PAGES, where the site has PAGES pages below SITE_URL.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, site, pagesText] = process.argv.slice(2);
const pages = Number(pagesText);
const client = new Firecrawl({ apiKey, apiUrl });

// One page in several formats.
const page = await client.scrape(site, { formats: ["markdown", "links", "html", "rawHtml"], onlyMainContent: true });
assert.ok(page.markdown.trim(), "no markdown");
assert.ok(page.links.length && page.links.every((link) => link.startsWith("http")));
assert.ok(page.html.includes("<") && /<html/i.test(page.rawHtml));
assert.equal(page.metadata.statusCode, 200);
assert.equal(page.metadata.sourceURL, site);
assert.ok(page.metadata.scrapeId && page.metadata.title);

// A comparison sees the present page, whatever the age of an acceptable copy.
const statuses = [];
for (const attempt of [1, 2]) {
  const options = { formats: ["markdown", "changeTracking"], maxAge: 14_400_000 };
  const { changeTracking } = await client.scrape(site + "tracked", options);
  statuses[attempt - 1] = changeTracking.changeStatus;
}
assert.deepEqual(statuses, ["new", "same"]);

// Options for what is fetched and what is removed.
for (const blockAds of [true, false]) {
  const options = { blockAds, proxy: "auto", redactPII: true, onlyMainContent: false, maxAge: 0 };
  const { markdown, metadata } = await client.scrape(site + "banner", options);
  assert.equal(markdown.includes("We use cookies"), !blockAds, markdown);
  assert.ok(markdown.includes("about herons") && !markdown.includes("ada@example.org"), markdown);
  assert.equal(metadata.proxyUsed, "basic");
}

// A crawl that the client waits for.
const job = await client.crawl(site, { limit: pages, pollInterval: 1, timeout: 120 });
assert.equal(job.status, "completed");
assert.deepEqual([job.completed, job.total, job.data.length], [pages, pages, pages]);
assert.equal(new Set(job.data.map((document) => document.metadata.url)).size, pages);
assert.equal(job.creditsUsed, pages);

// A crawl that is started and polled by hand.
const started = await client.startCrawl(site, { limit: 7, scrapeOptions: { formats: ["markdown", "links"] } });
assert.ok(started.url.endsWith(`/v2/crawl/${started.id}`));
let status;
while ((status = await client.getCrawlStatus(started.id)).status === "scraping") await sleep(200);
assert.equal(status.status, "completed");
assert.equal(status.data.length, 7);
const errors = await client.getCrawlErrors(started.id);
assert.deepEqual([errors.errors, errors.robotsBlocked], [[], []]);

// Active crawls and cancel.
const running = await client.startCrawl(site, { limit: pages, delay: 1 });
const active = async () => (await client.getActiveCrawls()).crawls.map((crawl) => crawl.id);
assert.ok((await active()).includes(running.id));
assert.equal(await client.cancelCrawl(running.id), true);
assert.equal((await client.getCrawlStatus(running.id)).status, "cancelled");
assert.ok(!(await active()).includes(running.id));

// A map.
const { links } = await client.map(site);
assert.ok(links.length > 2 && links.every((link) => link.url.startsWith(site)));
assert.equal(links.find((link) => link.url === site).title, page.metadata.title);
assert.equal((await client.map(site, { search: links.at(-1).url })).links[0].url, links.at(-1).url);
assert.equal((await client.map(site, { limit: 2, sitemap: "skip", includeSubdomains: false })).links.length, 2);

// Errors have their status.
await assert.rejects(client.startCrawl(site, { limit: pages, includePaths: ["("] }), /includePaths/);
await assert.rejects(new Firecrawl({ apiKey: "fc-wrong", apiUrl }).scrape(site), { status: 401 });

console.log("javascript client: ok");
