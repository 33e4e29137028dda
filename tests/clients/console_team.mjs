// Activity, usage, keys and webhooks of a team.
// Usage: console_team.mjs ORIGIN KEY SITE_URL CRAWL_ID RECEIVER_URL, after a crawl of the site, a failed crawl, and
// more other requests than the list shows at once.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { open } from "./console_browser.mjs";

const [origin, key, site, crawl, receiver] = process.argv.slice(2);
const { page, visit, complaints, findings, done } = await open(origin, key);
const rows = page.locator("table.activity tbody tr");

// Activity: newest first, more on demand, filtered by key, endpoint and outcome.
await visit("/activity", "Activity");
await rows.first().waitFor();
const first = await rows.count();
await page.getByRole("button", { name: "Load older calls" }).click();
await page.waitForFunction((first) => document.querySelectorAll("table.activity tbody tr").length > first, first);
await page.getByLabel("Key", { exact: true }).selectOption({ index: 1 });
await page.waitForURL(/\?key=[0-9a-f-]{36}$/);
await rows.first().waitFor();
await page.getByLabel("Key", { exact: true }).selectOption("");
await page.waitForURL((url) => url.search === "");
await page.getByLabel("Endpoint").selectOption("crawl");
await page.waitForFunction(() => {
  const kinds = [...document.querySelectorAll("table.activity .job-kind")].map((kind) => kind.textContent);
  return kinds.length === 2 && kinds.every((kind) => kind === "crawl");
});
assert.match(page.url(), /\?endpoint=crawl$/);
await page.getByLabel("Outcome").selectOption("failed");
await page.waitForFunction(() => document.querySelectorAll("table.activity tbody tr").length === 1);
assert.deepEqual(await findings(), []);

await page.getByRole("button", { name: "Explain" }).waitFor();

// A failed call has its reason, which a search finds.
const reason = await rows.first().locator(".reason").innerText();
assert.match(reason, /\w+ \w+/);
await page.getByLabel("Outcome").selectOption("");
await page.waitForFunction(() => document.querySelectorAll("table.activity tbody tr").length === 2);
const search = page.getByLabel("Search calls");
await search.fill(reason.toUpperCase());
await page.waitForFunction(() => document.querySelectorAll("table.activity tbody tr").length === 1);
await search.fill("no such call");
await page.getByText("No call matches the filter.").waitFor();
await search.fill("");

// A request links to its job and to its form.
await page.getByLabel("Outcome").selectOption("completed");
await page.locator(`a[href$="/jobs/${crawl}"]`).waitFor();
const [took, cost] = await page.locator("tr", { has: page.locator(`a[href$="/jobs/${crawl}"]`) }).locator("td.num").allInnerTexts();
assert.match(took, /^[\d.]+ (ms|s|min)/);
assert.equal(cost, "4");
await page.getByRole("button", { name: "Run again" }).click();
await page.getByRole("heading", { level: 1, name: "Crawl" }).waitFor();
assert.equal(await page.locator("#f-url").inputValue(), site);
await page.goBack();
await page.locator(`a[href$="/jobs/${crawl}"]`).click();
await page.waitForURL(`**/console/jobs/${crawl}`);

// Usage: the chart and the file have the numbers of the table.
await visit("/usage", "Usage");
const cells = page.locator(".table tbody tr").first().locator("td");
await cells.first().waitFor();
const credits = Number((await cells.first().innerText()).replaceAll(",", ""));
assert.ok(credits > 0);
const used = page.getByRole("region", { name: "This month" }).locator("dd").first();
assert.equal(Number((await used.innerText()).replaceAll(",", "")), credits);
await page.locator(".bars rect").first().waitFor();
assert.equal(await page.locator(".bars rect").count(), 1);
await page.getByRole("switch", { name: "By key" }).check();
await page.locator(".legend li", { hasText: "test" }).waitFor();
const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
const csv = readFileSync(await saved.path(), "utf8");
assert.match(csv, /^month,key,credits\n\d{4}-\d\d,"/);
await page.getByRole("button", { name: "Tokens" }).click();
await page.waitForURL(/of=tokens&by=month&byApiKey=true$/);
await page.locator(".bars rect").first().waitFor();
// By day: the credits of today, and the pages of the crawl.
await page.getByRole("button", { name: "Credits" }).click();
await page.getByRole("button", { name: "By day" }).click();
await page.waitForURL(/of=credits&by=day&byApiKey=true$/);
const days = page.getByRole("region", { name: "Usage by day" });
await days.waitFor();
assert.equal(await days.getByRole("row").count(), 2);
assert.equal(Number((await days.getByRole("cell").last().innerText()).replaceAll(",", "")), credits);
await page.getByRole("button", { name: "Pages" }).click();
await page.waitForURL(/of=pages&by=day&byApiKey=true$/);
await days.getByRole("columnheader", { name: "Total" }).waitFor();
assert.equal(await days.getByRole("cell").last().innerText(), "4");
assert.deepEqual(await findings(), []);

// Keys: created and shown once, used, revoked.
await visit("/keys", "Keys");
await page.getByLabel(/^Key name/).fill("ci");
await page.getByRole("button", { name: "Create key" }).click();
const newKey = await page.locator("#new-key .secret").innerText();
const keyStatus = () => page.evaluate(async (key) => {
  const response = await fetch("/v2/crawl/active", { headers: { Authorization: `Bearer ${key}` } });
  return response.status;
}, newKey);
assert.equal(await keyStatus(), 200);
await page.getByRole("button", { name: "Done" }).click();
assert.ok(!(await page.content()).includes(newKey), "the key is shown only once");
await page.getByRole("button", { name: "Revoke ci" }).click();
await page.getByRole("dialog", { name: "Revoke this key?" }).getByRole("button", { name: "Revoke key" }).click();
await page.locator("tr.revoked", { hasText: "ci" }).waitFor();
assert.equal(await keyStatus(), 401);
// The browser logs the expected 401 as an error.
assert.match(complaints.pop(), /401/);

// A key that is revoked is shown no longer.
await page.getByLabel(/^Key name/).fill("leaked");
await page.getByRole("button", { name: "Create key" }).click();
const leaked = await page.locator("#new-key .secret").innerText();
await page.getByRole("button", { name: "Revoke leaked" }).click();
const revoking = page.getByRole("dialog", { name: "Revoke this key?" });
await revoking.getByText("leaked", { exact: true }).waitFor();
await revoking.getByRole("button", { name: "Revoke key" }).click();
await page.locator("tr.revoked", { hasText: "leaked" }).waitFor();
assert.ok(!(await page.content()).includes(leaked), "a revoked key is not shown");

// Webhooks: a secret of the team, and a test event for a receiver.
await page.getByRole("button", { name: "Create secret" }).click();
assert.ok((await page.locator("#new-secret .secret").innerText()).length > 20);
await page.getByLabel(/^Test receiver URL/).fill(receiver);
await page.getByRole("button", { name: "Send test event" }).click();
await page.locator(".test-event .notice", { hasText: "Delivered" }).filter({ hasText: "signed" }).waitFor();
await page.getByRole("button", { name: "Rotate secret" }).waitFor();

await done("team: ok");
