// The JavaScript client with a running server: monitors and their checks.
// Usage: javascript_monitors.mjs API_URL API_KEY PAGE_URL

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, page] = process.argv.slice(2);
const client = new Firecrawl({ apiKey, apiUrl });

const monitor = await client.createMonitor({
  name: "Prices",
  schedule: { text: "daily at 9:00", timezone: "Asia/Tokyo" },
  targets: [{ type: "scrape", urls: [page], scrapeOptions: { formats: ["markdown"] } }],
  webhook: { url: "https://example.com/hook", events: ["monitor.check.completed"] },
  notification: { email: { enabled: false, recipients: [] } },
  goal: "The price falls",
});
assert.deepEqual(monitor.schedule, { cron: "0 9 * * *", timezone: "Asia/Tokyo" });
assert.deepEqual([monitor.status, monitor.retentionDays, monitor.judgeEnabled], ["active", 30, true]);
assert.deepEqual(monitor.webhook, { url: "https://example.com/hook", events: ["monitor.check.completed"] });
assert.deepEqual(monitor.notification, { email: { enabled: false, recipients: [] } });
assert.equal((await client.getMonitor(monitor.id)).id, monitor.id);
assert.deepEqual((await client.listMonitors({ limit: 5, offset: 0 })).map(({ id }) => id), [monitor.id]);

const changed = await client.updateMonitor(monitor.id, { name: "Cups", status: "paused", targets: monitor.targets });
assert.deepEqual([changed.name, changed.status, changed.nextRunAt], ["Cups", "paused", undefined]);

const check = await client.runMonitor(monitor.id);
assert.deepEqual([check.monitorId, check.trigger], [monitor.id, "manual"]);
let done;
do await sleep(100);
while (!(done = await client.getMonitorCheck(monitor.id, check.id, { limit: 1 })).finishedAt);
assert.deepEqual([done.status, done.summary.totalPages, done.summary.new, done.next], ["completed", 1, 1, null]);
assert.deepEqual([done.pages[0].url, done.pages[0].status], [page, "new"]);
assert.deepEqual((await client.getMonitorCheck(monitor.id, check.id, { status: "changed" })).pages, []);
assert.deepEqual((await client.listMonitorChecks(monitor.id, { limit: 5 })).map(({ id }) => id), [check.id]);

assert.equal(await client.deleteMonitor(monitor.id), true);
await assert.rejects(client.getMonitor(monitor.id), (error) => error.status === 404);

console.log("javascript monitors: ok");
