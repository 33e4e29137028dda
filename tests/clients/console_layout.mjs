// Layout: no column is empty, the primary button is always visible, the right column is sticky with its own scrollbar, a
// column takes the full width, the graph stays readable when a hub is chosen, and every screen fits a tablet and a zoom
// of 200 %.
// Usage: console_layout.mjs ORIGIN KEY JOB_ID URL, where the job is a crawl with a long page at URL that links all others

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

// Before the first run, the column of the result says what will appear there.
for (const [path, heading] of [
  ["/scrape", "Scrape"], ["/crawl", "Crawl"], ["/batch", "Batch"], ["/map", "Map"], ["/search", "Search"],
  ["/extract", "Extract"], ["/agent", "Agent"],
]) {
  await visit(path, heading);
  await settled();
  const text = await page.locator(".panes > :last-child").innerText();
  assert.ok(text.length > 40, `${path}: the right column says only "${text}"`);
}

// The parts of the server's health are in rows of the same length.
await visit("/", "Overview");
await settled();
for (const width of [390, 768, 1_024, 1_300, 1_600]) {
  await page.setViewportSize({ width, height: 900 });
  const tops = await page.locator(".health > div").evaluateAll((parts) => parts.map((part) => part.offsetTop));
  const lengths = Object.values(Object.groupBy(tops, (top) => top)).map((row) => row.length);
  assert.equal(new Set(lengths).size, 1, `rows of ${lengths} parts at ${width} px`);
}

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

// Titles and blocks of a page have the direction of their script.
const arabic = { metadata: { title: "عنوان طويل جدا ".repeat(20), sourceURL: url, url, statusCode: 200 }, markdown: "# عنوان\n\nنص\n\nText" };
await page.route("**/v2/scrape", (route) => route.fulfill({ json: { success: true, data: arabic } }));
await visit(`/scrape?url=${encodeURIComponent(url)}`, "Scrape");
await page.getByRole("button", { name: "Scrape page" }).click();
await page.locator(".prose p").nth(1).waitFor();
assert.equal(await page.locator("#result h2").first().evaluate((title) => getComputedStyle(title).direction), "rtl");
const offsets = await page.locator(".prose :is(h2, p)").evaluateAll((blocks) =>
  blocks.map((block) => {
    const text = document.createRange();
    text.selectNodeContents(block);
    return Math.round(text.getBoundingClientRect().left - block.getBoundingClientRect().left);
  }),
);
assert.ok(offsets[0] > 100 && offsets[1] > 100 && offsets[2] === 0, `texts begin at ${offsets}`);
await page.unroute("**/v2/scrape");

// The lines of a chosen hub are faint, so that the pages which it links stay visible.
await visit(`/jobs/${job}?tab=graph&page=0`, /127\.0\.0\.1/);
const picture = page.getByRole("img", { name: /links between them/ });
await picture.waitFor();
await settled();
const marked = await picture.evaluate(async (canvas) => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const accent = getComputedStyle(canvas).caretColor.match(/\d+/g).map(Number);
  let full = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const isAccent = accent.slice(0, 3).every((value, channel) => Math.abs(pixels[at + channel] - value) < 8);
    if (isAccent && pixels[at + 3] > 230) full += 1;
  }
  return full / (width * height);
});
assert.ok(marked > 0.001 && marked < 0.05, `${(marked * 100).toFixed(2)} % of the graph has the color of the choice`);

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
