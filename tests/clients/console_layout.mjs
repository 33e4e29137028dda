// Layout: the primary button is always visible, the right column is sticky with its own scrollbar, a column takes the
// full width, and every screen fits a tablet and a zoom of 200 %.
// Usage: console_layout.mjs ORIGIN KEY JOB_ID URL, where the job is a crawl with a long page at URL

import assert from "node:assert/strict";
import { DESKTOP, open } from "./console_browser.mjs";

const [origin, key, job, url] = process.argv.slice(2);
const { page, visit, settled, fits, done } = await open(origin, key);

/** Asserts that an element is within the window. */
async function isInView(locator, what) {
  const box = await locator.boundingBox();
  const height = await page.evaluate(() => innerHeight);
  assert.ok(box && box.y >= 0 && box.y + box.height <= height, `${what}: ${JSON.stringify(box)} of ${height} px`);
}
const scrollTo = (top) => page.evaluate((top) => scrollTo(0, top), top);

// The send button stays in view, from the top of a long form to its end.
await page.setViewportSize({ width: 1440, height: 600 });
for (const [path, heading, name] of [
  ["/scrape", "Scrape", "Scrape page"],
  ["/crawl", "Crawl", "Start crawl"],
  ["/batch", "Batch", "Start batch"],
  ["/extract", "Extract", "Extract"],
]) {
  await visit(path, heading);
  for (const group of await page.locator("form details > summary").all()) await group.click();
  const send = page.locator("form").getByRole("button", { name, exact: true });
  await isInView(send, path);
  await scrollTo(await page.evaluate(() => document.body.scrollHeight / 3));
  await isInView(send, `${path}, scrolled`);
}

// The result is sticky while the form scrolls, and has its own scrollbar.
await visit(`/scrape?url=${encodeURIComponent(url)}`, "Scrape");
for (const group of await page.locator("form details > summary").all()) await group.click();
await page.keyboard.press("Control+Enter");
await page.locator("#result .prose").waitFor();
await scrollTo(1_200);
await isInView(page.locator("#viewer-rendered"), "result, with the form scrolled");
const column = page.locator(".panes > :last-child");
const before = await page.evaluate(() => scrollY);
await column.hover({ position: { x: 4, y: 4 } });
await column.evaluate((column) => column.scrollTo(0, 200));
assert.equal(await column.evaluate((column) => column.scrollTop), 200);
assert.equal(await page.evaluate(() => scrollY), before);

// A column takes the full width, and gives it back.
const form = page.locator("form.pane-form");
await column.evaluate((column) => column.scrollTo(0, 0));
await page.getByRole("button", { name: "Full width" }).click();
await form.waitFor({ state: "hidden" });
const widths = await page.evaluate(() => [".page", "#result"].map((one) => document.querySelector(one).clientWidth));
assert.ok(widths[1] > widths[0] * 0.9, `the result has ${widths[1]} of ${widths[0]} px`);
await page.getByRole("button", { name: "Full width" }).click();
await form.waitFor();

// Tabs that a page next to them leaves no room for are in a menu.
await page.setViewportSize({ width: 1360, height: 800 });
await visit(`/jobs/${job}`, /127\.0\.0\.1/);
const pages = page.getByRole("grid", { name: "Pages" }).locator("[aria-rowindex][title]");
await pages.first().waitFor();
const menu = page.locator(".tabs").first().locator('summary[aria-label="All tabs"]');
assert.equal(await menu.count(), 0);
await pages.first().click();
await menu.waitFor();

// A tablet, and a desktop at 200 %.
const ROUTES = [
  ["/", "Overview"], ["/scrape", "Scrape"], ["/crawl", "Crawl"], ["/batch", "Batch"], ["/map", "Map"],
  ["/search", "Search"], ["/extract", "Extract"], ["/parse", "Parse"], ["/agent", "Agent"],
  ["/monitors", "Monitors"],
  ["/sessions", "Sessions"], ["/activity", "Activity"], ["/usage?by=day", "Usage"], ["/keys", "Keys"], ["/ask", "Ask"],
  ["/tools", "Tools"], ["/settings", "Settings"],
  ...["pages", "tree", "graph", "errors", "blocked", "compare", "request", "webhooks"].map((tab) => [
    `/jobs/${job}?tab=${tab}&page=0`, /127\.0\.0\.1/,
  ]),
];
for (const [path, heading] of ROUTES) {
  await page.setViewportSize(DESKTOP);
  await visit(path, heading);
  await settled();
  for (const viewport of [{ width: 768, height: 1_024 }, { width: 720, height: 450 }]) {
    await page.setViewportSize(viewport);
    await fits();
  }
}
await done("layout: ok");
