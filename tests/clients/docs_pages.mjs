// The documentation in Chromium: guide, API reference and search, in both color schemes and sizes.
// Usage: docs_pages.mjs ORIGIN KEY

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, isAccessible, done } = await open(origin, key);
const heading = (name) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

// The console links to the reference, and the reference to the guide.
await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "API reference" }).click();
await heading("API reference");
await page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Guide" }).click();
await heading("Documentation");

const pages = [
  "/docs",
  "/docs/scrape",
  "/docs/settings",
  "/docs?q=cancel+a+crawl",
  "/docs?q=sourdough",
  "/docs/api",
  "/docs/api/scrape",
  "/docs/api/cancelCrawl",
];
for (const path of pages) {
  await page.goto(origin + path);
  await isAccessible();
}

// A search finds endpoints and passages of the guide, from any page.
await page.getByRole("searchbox").fill("cancel a crawl");
await page.keyboard.press("Enter");
await heading("Results for “cancel a crawl”");
await page.getByRole("heading", { level: 2, name: "Guide" }).waitFor();
await page.getByRole("listitem").filter({ hasText: "Cancel a crawl" }).getByRole("link").first().click();
await heading("Cancel a crawl");
await page.getByText("-X DELETE").waitFor();

// A type leads to the table of its object.
await page.goto(`${origin}/docs/api/startCrawl`);
await page.getByRole("link", { name: "ScrapeOptions", exact: true }).first().click();
assert.equal(new URL(page.url()).hash, "#ScrapeOptions");
await page.getByRole("heading", { level: 3, name: "ScrapeOptions" }).waitFor();
await done("documentation: ok");
