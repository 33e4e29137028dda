// After a crawl: each figure about its pages shows the pages that it counts, and what was removed from a page is marked.
// Usage: console_health.mjs ORIGIN KEY JOB_ID, where the crawl has a redirect to /new, the thin page /thin, the equal
// pages /copy-1 and /copy-2, the page /untitled without a title, and a start page with a menu outside its main content

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, job] = process.argv.slice(2);
const { page, visit, findings, done } = await open(origin, key);
const rows = page.getByRole("grid", { name: "Pages" }).locator(".grid-space [role=row]");
const count = (number) => page.waitForFunction(
  (number) => document.querySelectorAll(".grid-space [role=row]").length === number, number,
);

await visit(`/jobs/${job}`, /127\.0\.0\.1/);
const health = page.getByRole("region", { name: "Health" });
for (const [name, only, paths] of [
  ["Redirects", "redirects", ["/new"]],
  ["Thin pages", "thin", ["/thin"]],
  ["Duplicates", "duplicates", ["/copy-1", "/copy-2"]],
  ["Missing titles", "untitled", ["/untitled"]],
]) {
  const figure = health.getByRole("button", { name });
  assert.equal((await figure.innerText()).split("\n")[0], String(paths.length), name);
  await figure.click();
  await page.waitForURL(new RegExp(`\\?only=${only}$`));
  await count(paths.length);
  assert.deepEqual((await rows.locator(".mono").allInnerTexts()).sort(), paths, name);
}
assert.deepEqual(await findings(), []);

// The header of a column sorts: its natural order, the other one, and none.
await page.getByRole("group", { name: "Page filter" }).getByRole("button", { name: /^All/ }).click();
const header = page.getByRole("columnheader", { name: "Path" });
for (const [order, query] of [["ascending", /\?sort=path$/], ["descending", /\?sort=-path$/]]) {
  await header.getByRole("button").click();
  await page.waitForURL(query);
  assert.equal(await header.getAttribute("aria-sort"), order);
  const paths = await rows.locator(".mono").allInnerTexts();
  const sorted = paths.toSorted();
  assert.deepEqual(paths, order === "ascending" ? sorted : sorted.reverse());
}

// The menu of the start page is marked in the full page, and not in the main content.
await rows.getByText("/", { exact: true }).click();
await page.getByRole("tab", { name: "Removed" }).click();
await page.getByRole("button", { name: "Show what was removed" }).click();
await page.locator("del.removed", { hasText: "Menu of the site" }).waitFor();
await page.getByRole("status").filter({ hasText: /^1 part was removed/ }).waitFor();
assert.ok(!(await page.getByRole("region", { name: "Main content" }).innerText()).includes("Menu"));
assert.deepEqual(await findings(), []);
await done("health: ok");
