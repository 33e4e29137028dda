// Failures of a job: pages with an error status are counted and filtered, failed pages have a reason, both are retried.
// Usage: console_failures.mjs ORIGIN KEY JOB_ID, where the job is a batch of a page, /gone and /away, which have an
// error status, and two pages of a server that does not respond

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, job] = process.argv.slice(2);
const { page, visit, findings, done } = await open(origin, key);
const grid = page.getByRole("grid", { name: "Pages" });
const rows = grid.locator(".grid-space [role=row]");
const count = (number) => page.waitForFunction(
  (number) => document.querySelectorAll(".grid-space [role=row]").length === number, number,
);
/** Goes to the job that a click starts. */
async function retries(button, title) {
  await page.getByRole("button", { name: button, exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

await visit(`/jobs/${job}`, /5 pages on/);
await page.getByRole("tab", { name: /^Errors\s*2$/ }).waitFor();

// An error status is no failure, but it is counted, colored and filtered.
const figure = page.getByRole("button", { name: /^2\s*HTTP errors$/ });
await figure.click();
await count(2);
const chips = page.getByRole("group", { name: "Page filter" }).locator(".chip.bad");
await chips.filter({ hasText: "404 1" }).click();
await page.waitForURL(/only=404/);
await count(1);
assert.match(await rows.first().innerText(), /\/gone/);
await chips.filter({ hasText: "410 1" }).click();
await page.waitForURL(/only=410/);
await rows.getByText("/away").first().click();
await page.getByRole("tab", { name: "Metadata" }).click();
await page.locator("#viewer-panel").getByText("410").first().waitFor();
await figure.click();
await retries("Retry 2 pages", /2 pages on/);

// A failed page has its reason.
await visit(`/jobs/${job}?tab=errors`, /5 pages on/);
for (const path of ["a", "b"]) {
  await page.locator(".error-row", { hasText: `127.0.0.1:1/${path}` }).getByText("SCRAPE_").waitFor();
}
assert.deepEqual(await findings(), []);
await retries("Retry", /1 page on 127\.0\.0\.1:1/);
await visit(`/jobs/${job}?tab=errors`, /5 pages on/);
await retries("Retry 2 failed pages", /2 pages on 127\.0\.0\.1:1/);
await done("failures: ok");
