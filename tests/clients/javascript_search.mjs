// The JavaScript client with a running server: searches in crawled pages.
// Usage: javascript_search.mjs API_URL API_KEY SITE, a documentation site.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, site] = process.argv.slice(2);
const client = new Firecrawl({ apiKey, apiUrl });
const crawled = await client.crawl(site, { limit: 10 });
const { title, url } = crawled.data[3].metadata;

const bare = await client.search(title, { limit: 3 });
assert.match(bare.warning, /No search provider/);
assert.deepEqual([bare.web[0].url, bare.web[0].title, bare.web[0].markdown], [url, title, undefined]);
assert.ok(bare.web[0].description);

const scraped = await client.search(title, { limit: 2, sources: ["web"], scrapeOptions: { formats: ["markdown"] } });
for (const page of scraped.web) assert.ok(page.markdown && page.metadata.scrapeId, JSON.stringify(page));
assert.equal(scraped.web[0].metadata.sourceURL, url);

const none = await client.search("anything", { includeDomains: ["elsewhere.test"], tbs: "qdr:w" });
assert.deepEqual(none.web, []);
await assert.rejects(client.search("anything", { sources: ["images"] }), /search provider/);

console.log("javascript search: ok");
