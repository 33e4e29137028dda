// A batch from a CSV file, a second run of it compared with the first, and what the palette offers for a URL.
// Usage: console_batches.mjs ORIGIN KEY SITE, where SITE is the URL of a site with the pages /, /page-1 and /page-2

import assert from "node:assert/strict";
import { DESKTOP, PHONE, open } from "./console_browser.mjs";

const [origin, key, site] = process.argv.slice(2);
const { page, visit, settled, fits, findings, done } = await open(origin, key);

const list = ["name,url", `"Start, first",${site}/`, `Page 1,${site}/page-1`, `Again,${site}/page-1`].join("\n");
await visit("/batch", "Batch");
const files = page.locator("input[type=file]");
await files.setInputFiles({ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.from("nothing here") });
await page.getByText("The file has no URLs.").waitFor();
await files.setInputFiles({ name: "pages.csv", mimeType: "text/csv", buffer: Buffer.from(list) });
await page.getByText("3 URLs on 1 host, 1 duplicate").waitFor();
const dropped = await page.evaluateHandle((text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "more.txt", { type: "text/plain" }));
  return data;
}, `${site}/page-1\n`);
await page.locator(".url-import").dispatchEvent("drop", { dataTransfer: dropped });
await page.getByText("4 URLs on 1 host, 2 duplicates").waitFor();
assert.deepEqual(await findings(), []);
await page.setViewportSize(PHONE);
await fits();
await page.setViewportSize(DESKTOP);

const host = new URL(site).host;
const run = async () => {
  await page.getByRole("button", { name: "Start batch" }).click();
  await page.getByRole("heading", { level: 1, name: `2 pages on ${host}` }).waitFor();
  await page.getByText("completed", { exact: true }).first().waitFor();
};
await run();
await page.getByRole("tab", { name: "Compare" }).click();
await page.getByText("No other run of this URL is stored.").waitFor();

await page.getByRole("button", { name: "Edit and run again" }).click();
await page.getByText("URLs on 1 host").waitFor();
await page.getByRole("textbox", { name: "URLs" }).fill(`${site}/\n${site}/page-2`);
await run();
await page.getByRole("tab", { name: "Compare" }).click();
await page.getByText("1 page is the same.").waitFor();
await page.getByRole("button", { name: "New 1" }).click();
await page.getByText("/page-2").first().waitFor();
await page.getByRole("button", { name: "Gone 1" }).click();
await page.getByText("/page-1").first().waitFor();
assert.deepEqual(await findings(), []);

await page.keyboard.press("Control+k");
await page.getByRole("combobox", { name: "Screen, job, URL or action" }).fill(`${site}/page-1`);
const offers = await page.getByRole("option").allTextContents();
for (const action of ["Scrape page", "Crawl site", "Map site", "Extract data", "Open browser"]) {
  assert.ok(offers.some((offer) => offer.startsWith(action)), `${action} in ${offers}`);
}
await page.keyboard.press("Enter");
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
assert.equal(await page.getByLabel("URL").first().inputValue(), `${site}/page-1`);
await settled();
await done("batches: ok");
