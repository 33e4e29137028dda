// The JavaScript client with a running server: browser sessions with and without a scrape.
// Usage: javascript_sessions.mjs API_URL API_KEY PAGE, a page with an input, a button and an output that greets.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, page] = process.argv.slice(2);
const client = new Firecrawl({ apiKey, apiUrl });
const status = (code) => (error) => error.status === code;

// A scrape that is continued in several languages with the same browser.
const { scrapeId } = (await client.scrape(page)).metadata;
const code = "await page.fill('input', 'Ada'); await page.click('button'); ({ title: await page.title() })";
let answer = await client.interact(scrapeId, { code });
assert.deepEqual([answer.success, answer.exitCode, answer.result], [true, 0, '{"title":"Form"}']);
assert.ok(answer.liveViewUrl.includes("/live/") && answer.cdpUrl.startsWith("ws://"));
answer = await client.interact(scrapeId, { code: "get text output", language: "bash", timeout: 10 });
assert.deepEqual([answer.stdout.trim(), answer.killed], ["Hello Ada", false]);
answer = await client.interact(scrapeId, { code: "throw new Error('no')" });
assert.ok(!answer.success && answer.exitCode === 1 && answer.error.includes("no"), JSON.stringify(answer));
answer = await client.interact(scrapeId, { prompt: "click Send" });
assert.ok(answer.success && answer.result.includes("Send"), JSON.stringify(answer));
let ended = await client.stopInteraction(scrapeId);
assert.ok(ended.success && ended.sessionDurationMs > 0 && ended.creditsBilled >= 1);
await assert.rejects(client.interact(scrapeId, { code }), status(410));
await assert.rejects(client.stopInteraction(scrapeId), status(404));

// A browser without a scrape: code is browser commands by default.
const browser = await client.browser({ ttl: 120, activityTtl: 60, profile: { name: "javascript" } });
assert.ok(browser.success && browser.cdpUrl && browser.liveViewUrl && browser.expiresAt);
answer = await client.browserExecute(browser.id, { code: `open ${page} && fill input Bob && click button` });
assert.ok(answer.success, JSON.stringify(answer));
answer = await client.browserExecute(browser.id, { code: "page.textContent('output')", language: "node" });
assert.equal(answer.result, "Hello Bob");
const active = await client.listBrowsers({ status: "active" });
assert.deepEqual(active.sessions.map((one) => one.id), [browser.id]);
ended = await client.deleteBrowser(browser.id);
assert.ok(ended.success && ended.creditsBilled >= 1);
const { sessions } = await client.listBrowsers();
assert.deepEqual(sessions.map((one) => one.status), ["destroyed", "destroyed"]);
await assert.rejects(client.browserExecute(browser.id, { code: "get url" }), status(410));

console.log("javascript sessions: ok");
