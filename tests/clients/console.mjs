// The console in Chromium as a new user sees it: sign in with the printed link, crawl a site, read a page.
// Usage: console.mjs SIGN_IN_LINK SITE_URL PAGES, where the site has PAGES pages below SITE_URL.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { fitsThePhone } from "./console/page.mjs";

// NODE_PATH names the folder of the packages.
const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");

const [link, site, pages] = process.argv.slice(2);
const origin = new URL(link).origin;
const browser = await chromium.launch({
  executablePath: process.env.HARVESTMAN_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));
page.on("request", (request) => {
  const url = request.url();
  if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
});

await page.goto(link);
await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
assert.ok(!page.url().includes("start="), "the sign-in code is still in the URL");
await fitsThePhone(page);

// A crawl, from the form to its last page.
await page.getByRole("link", { name: "Crawl" }).first().click();
await page.getByRole("heading", { level: 1, name: "Crawl" }).waitFor();
await fitsThePhone(page);
await page.locator("input.big").fill(site);
await page.getByLabel(/^Page limit/).fill(pages);
await page.getByText(`"limit": ${pages}`).first().waitFor();
await page.getByRole("button", { name: "Start crawl" }).click();
await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
await page.getByText("completed", { exact: true }).first().waitFor({ timeout: 60_000 });
await page.getByRole("tab", { name: new RegExp(`^Pages\\s*${pages}$`) }).waitFor();
await page.getByText("/", { exact: true }).first().click();
await page.locator(".prose h1, .prose h2, .prose h3").first().waitFor();
// The search term is kept when switching pages.
const first = await page.locator(".prose").innerText();
await page.getByRole("button", { name: "Find in result" }).click();
await page.getByRole("grid", { name: "Pages" }).press("ArrowDown");
await page.waitForFunction((first) => document.querySelector(".prose").innerText !== first, first);
await page.getByRole("textbox", { name: "Find in result" }).waitFor();
await fitsThePhone(page);

// A scrape, from the form to its Markdown.
await page.goto(`${origin}/console/scrape?url=${encodeURIComponent(site)}`);
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
assert.equal(await page.locator("input.big").inputValue(), site);
await page.keyboard.press("Control+Enter");
await page.getByRole("tab", { name: "Markdown" }).click();
await page.locator("pre").filter({ hasText: "#" }).first().waitFor();
await fitsThePhone(page);

await page.goto(`${origin}/console/settings`);
await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
await fitsThePhone(page);
await page.goto(`${origin}/console/nowhere`);
await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();

assert.deepEqual(complaints, []);
await browser.close();
console.log("console: ok");
