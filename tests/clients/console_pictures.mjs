// Takes screenshots of every screen of the console with data: on a desktop in light mode, on a phone in dark mode. With
// `review`, as PNG on desktop, tablet and phone in both modes.
// Usage: console_pictures.mjs ORIGIN KEY SITE FOLDER [review], where SITE is the first page of a site that the server may
// fetch.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, PHONE, open } from "./console_browser.mjs";

const [origin, key, site, folder, purpose] = process.argv.slice(2);
const TABLET = { width: 768, height: 1024 };
const LOOKS = [
  ["", DESKTOP, "light"],
  ["-phone", PHONE, "dark"],
];
const REVIEW_LOOKS = [["", DESKTOP], ["-tablet", TABLET], ["-phone", PHONE]].flatMap(([name, viewport]) =>
  ["light", "dark"].map((colorScheme) => [`${name}-${colorScheme}`, viewport, colorScheme]),
);
const isReview = purpose === "review";
const [looks, format] = isReview ? [REVIEW_LOOKS, { format: "png" }] : [LOOKS, { format: "webp", quality: 60 }];

mkdirSync(folder, { recursive: true });
const { page, visit, settled } = await open(origin, key, { checked: false });
page.setDefaultTimeout(60_000);
const browser = await page.context().newCDPSession(page);
const button = (name) => page.getByRole("button", { name, exact: true });
const address = (path, query) => `${path}?${new URLSearchParams(query)}`;

/** Saves screenshots of the current screen in every size and theme, from its top, on a phone from `part` on. */
async function picture(name, part) {
  for (const [end, viewport, colorScheme] of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // Live views and drawings need time to adapt to the size, and a new result is scrolled into view.
    await page.waitForTimeout(600);
    await page.evaluate(() => scrollTo(0, 0));
    if (part && viewport === PHONE) await part.evaluate((element) => element.scrollIntoView());
    await page.waitForTimeout(100);
    const { data } = await browser.send("Page.captureScreenshot", format);
    writeFileSync(join(folder, `${name}${end}.${format.format}`), Buffer.from(data, "base64"));
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: "light" });
}

await visit(address("/crawl", { url: site, limit: 300 }), "Crawl");
await button("Preview site").click();
await page.getByRole("region", { name: "Preview" }).locator(".badge").nth(1).waitFor();
await picture("crawl");
await button("Start crawl").click();
await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}/);
await page.getByRole("heading", { level: 1 }).waitFor();
const job = new URL(page.url()).pathname.replace("/console", "");
await visit("/", "Overview");
await settled();
await picture("overview");

await visit(job, /./);
await page.getByText("completed", { exact: true }).first().waitFor();
await page.getByRole("grid", { name: "Pages" }).locator("[aria-rowindex][title]").nth(3).click();
await page.locator(".prose > *").first().waitFor();
await picture("job");
const tabs = [["Tree", "job-tree"], ["Graph", "job-graph"], ["Request", "job-request"]];
if (isReview) tabs.push(["Errors", "job-errors"]);
for (const [tab, name] of tabs) {
  await page.getByRole("tab", { name: new RegExp(`^${tab}`) }).click();
  await settled();
  await picture(name, page.getByRole("tablist").first());
}

await visit(address("/scrape", { url: site }), "Scrape");
await page.keyboard.press("Control+Enter");
await page.locator(".prose").getByRole("heading").first().waitFor();
await picture("scrape");
await page.getByRole("link", { name: "Interact with this page" }).click();
await button("Open browser").click();
await page.getByRole("tab", { name: "Code" }).waitFor();
await page.frameLocator("iframe").first().locator("canvas, img").first().waitFor();
await page.getByLabel("Code", { exact: true }).locator("visible=true").last().fill("await page.title()");
await page.keyboard.press("Control+Enter");
await page.locator("pre", { hasText: /\w/ }).first().waitFor();
await picture("session");
const runTabs = [["Recorder", "session-recorder"]];
if (isReview) runTabs.push(["Files", "session-files"]);
for (const [tab, name] of runTabs) {
  await page.getByRole("tab", { name: tab }).click();
  await picture(name, page.getByRole("tablist").first());
}
await visit("/sessions", "Sessions");
await page.locator(".session-row").first().waitFor();
await picture("sessions");
await page.getByRole("button", { name: /^Stop the session of/ }).first().click();
await button("Stop session").click();

await visit(address("/map", { url: site }), "Map");
await page.keyboard.press("Control+Enter");
await page.locator("#result input").first().waitFor();
await picture("map");
await visit(address("/search", { query: "list comprehensions", limit: 8 }), "Search");
await page.keyboard.press("Control+Enter");
await page.locator(".hit").first().waitFor();
await picture("search");

await visit("/batch", "Batch");
await page.getByRole("textbox", { name: "URLs" }).fill(["", "tutorial/", "library/"].map((path) => new URL(path, site).href).join("\n"));
await picture("batch");
await visit("/agent", "Agent");
await page.getByLabel(/^Prompt/).fill("Which chapter explains modules?");
await page.getByLabel(/^URLs/).fill(site);
await picture("agent");
await visit("/monitors", "Monitors");
await page.getByLabel("URLs, one per line").fill(site);
await page.getByLabel("Schedule").fill("weekdays at 9:00");
await page.getByLabel("Name").fill("Tutorial");
await picture("monitors");
await button("Create monitor").click();
await page.getByRole("heading", { level: 1, name: "Tutorial" }).waitFor();
await button("Check now").click();
await page.getByRole("heading", { level: 2, name: /new/ }).waitFor();
await picture("monitor");
await button("Delete").click();
await button("Delete monitor").click();
await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();

await visit("/extract", "Extract");
await page.getByLabel(/^URLs/).fill(site);
await page.getByLabel(/^Prompt/).fill("The title and the description");
for (const [at, name] of ["title", "description"].entries()) {
  await button("Add field").click();
  await page.getByLabel("Field name", { exact: true }).nth(at).fill(name);
}
await button("Extract").click();
await page.locator("#result .badge", { hasText: "completed" }).waitFor();
await picture("extract");

await visit("/parse", "Parse");
const plan = ["month,pages,credits", "January,1200,1200", "February,900,940", "March,2100,2100"].join("\n");
await page.getByLabel("Choose file").setInputFiles({ name: "plan.csv", mimeType: "text/csv", buffer: Buffer.from(plan) });
await button("Convert file").click();
await page.locator("#result [role=tabpanel]").waitFor();
await picture("parse");

await visit("/ask", "Ask");
await page.getByRole("textbox", { name: /^Question/ }).fill("How do I limit the number of pages of a crawl?");
await page.keyboard.press("Control+Enter");
await page.locator(".answer .prose", { hasText: /\w{4}/ }).waitFor();
await picture("ask");
for (const [path, heading] of [["/activity", "Activity"], ["/usage", "Usage"], ["/keys", "Keys"], ["/settings", "Settings"]]) {
  await visit(path, heading);
  await settled();
  await picture(heading.toLowerCase());
}
await visit("/usage?of=credits&by=day&byApiKey=true", "Usage");
await page.getByRole("region", { name: "Usage by day" }).waitFor();
await picture("usage-by-day");
await visit("/tools", "Tools");
await page.getByLabel("HTML", { exact: true }).fill("<main><h1>Spiders</h1><p>Eight <strong>legs</strong>, see <a href='/legs'>more</a>.</p></main>");
await page.getByLabel("Page URL").fill("https://example.com/animals/");
await page.getByRole("tab", { name: "Markdown", exact: true }).click();
await page.locator("pre", { hasText: "Eight **legs**" }).waitFor();
await picture("tools");
await page.context().browser().close();
console.log(`pictures: ${folder}`);
