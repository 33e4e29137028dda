// The JavaScript client with a running server: data from pages with the json format, extracts and agents.
// Usage: javascript_extract.mjs API_URL API_KEY CUP_URL POT_URL, two products; prompts with "wait" get no reply.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, cup, pot] = process.argv.slice(2);
const client = new Firecrawl({ apiKey, apiUrl });
const schema = {
  type: "object",
  required: ["name", "price"],
  properties: { name: { type: "string" }, price: { type: "number" } },
};
const products = {
  type: "object",
  required: ["products"],
  properties: { products: { type: "array", items: schema } },
};

// Formats of a scrape.
const document = await client.scrape(cup, {
  formats: ["markdown", "summary", { type: "json", schema, prompt: "the product" }],
});
assert.deepEqual(document.json, { name: "Cup", price: 9.5 });
assert.equal(document.summary, "A product.");
assert.equal(document.metadata.creditsUsed, 5);

// An extract that the client waits for, and one that is polled.
const done = await client.extract({
  urls: [cup, pot], schema: products, prompt: "all products", showSources: true, pollInterval: 1,
});
assert.equal(done.status, "completed");
assert.deepEqual(done.data.products.map((product) => product.name), ["Cup", "Pot"]);
assert.deepEqual(done.sources.products, [cup, pot]);
const started = await client.startExtract({ urls: [cup], schema });
let status;
while ((status = await client.getExtractStatus(started.id)).status === "processing") await sleep(100);
assert.equal(status.data.price, 9.5);

// An agent that the client waits for, and one that is cancelled.
const found = await client.agent({ urls: [cup], prompt: "The price of the cup", schema, pollInterval: 1 });
assert.equal(found.status, "completed");
assert.deepEqual(found.data, { name: "Cup", price: 9.5 });
assert.equal(found.creditsUsed, 5);
const waiting = await client.startAgent({ urls: [cup], prompt: "wait for ever" });
assert.equal((await client.getAgentStatus(waiting.id)).status, "processing");
assert.equal(await client.cancelAgent(waiting.id), true);
const cancelled = await client.getAgentStatus(waiting.id);
assert.deepEqual([cancelled.status, cancelled.error], ["failed", "cancelled"]);

// A conversation: the next run of a thread, its trace, and a page as the agent read it.
assert.equal(found.threadTurn, 1);
const next = await client.agent({
  prompt: "And again", schema, threadId: found.threadId, effort: "low", pollInterval: 1,
});
assert.deepEqual([next.status, next.threadId, next.threadTurn], ["completed", found.threadId, 2]);
const { thread } = await client.getAgentThread(found.threadId, { includeData: true });
assert.deepEqual([thread.status, thread.runs.map((run) => run.turn)], ["idle", [1, 2]]);
assert.deepEqual(thread.runs[0].data, { name: "Cup", price: 9.5 });
const trace = await client.getAgentTrace(thread.runs[1].id, { liveView: true });
assert.deepEqual([trace.events[0].type, trace.events.at(-1).outcome], ["run.started", "succeeded"]);
const { artifact } = trace.events.find((event) => event.type === "artifact.updated");
const { snapshot } = await client.getAgentSnapshot(thread.runs[1].id, artifact.snapshotId);
assert.match(snapshot, /This is a Cup/);

// The list of agents.
const listed = await client.listAgents();
assert.deepEqual([listed.success, listed.agents.length], [true, 3]);
assert.equal(listed.agents[1].id, waiting.id);

console.log("javascript extract: ok");
