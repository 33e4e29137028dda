// A search, from the form to the scraped pages.
// Usage: console_search.mjs ORIGIN KEY QUERY RESULTS, where at least RESULTS results exist

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, query, results] = process.argv.slice(2);
const { page, visit, fits, findings, done } = await open(origin, key);

await visit("/search", "Search");
await page.getByRole("searchbox", { name: /^Query/ }).fill(query);
await page.getByRole("textbox", { name: /^Result limit/ }).fill(results);
await page.getByText(`"limit": ${results}`).first().waitFor();
await page.getByRole("button", { name: "Search", exact: true }).click();
await page.locator(".hit").nth(Number(results) - 1).waitFor();
assert.equal(await page.locator(".hit").count(), Number(results), "no more than the limit");
await fits();
assert.deepEqual(await findings(), []);

// The URL carries the result: a reload and the back button show it again.
await page.waitForURL(/\/search\?id=[0-9a-f-]{36}$/);
const found = page.url();
await page.reload();
await page.locator(".hit").nth(Number(results) - 1).waitFor();
await visit("/usage", "Usage");
await page.goBack();
await page.locator(".hit").nth(Number(results) - 1).waitFor();
assert.equal(page.url(), found);

// The selected results are scraped as one job.
await page.locator(".hit input").nth(0).check();
await page.locator(".hit input").nth(1).check();
await page.getByRole("button", { name: "Scrape 2 pages" }).click();
await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
await page.getByText("completed", { exact: true }).first().waitFor({ timeout: 60_000 });

// With formats, each result has its page.
await visit(`/search?query=${encodeURIComponent(query)}`, "Search");
await page.locator(".chip", { hasText: /^markdown$/ }).click();
await page.keyboard.press("Control+Enter");
await page.getByRole("button", { name: "Read" }).first().click();
await page.locator("#hit [role=tabpanel]").waitFor();
await done("search: ok");
