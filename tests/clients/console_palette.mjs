// The command palette finds jobs on the server, keys, settings and the documentation.
// Usage: console_palette.mjs ORIGIN KEY JOB_ID URL EXTRACT_ID, where the job is a crawl of the URL, older than the 100
// newest jobs. The team has a key of the name `colleague`.

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, job, url, extract] = process.argv.slice(2);
const { page, findings, done } = await open(origin, key);
const input = page.getByRole("combobox", { name: "Screen, job, URL or action" });
const option = (text) => page.getByRole("option").filter({ hasText: text });
const look = async (words) => {
  await page.keyboard.press("Control+k");
  await input.fill(words);
};

// The newest jobs do not include it; its URL in other letters and its id do.
for (const words of [new URL(url).pathname.toUpperCase(), job, url]) {
  await look(words);
  await option(job).first().click();
  await page.waitForURL(`**/console/jobs/${job}`);
}
await look(extract);
await option(extract).first().click();
await page.waitForURL(`**/console/extract?id=${extract}`);

// A URL opens forms, also the one on screen.
for (const one of ["https://one.test/", "https://two.test/"]) {
  await look(one);
  await option("Open browser").click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await page.waitForFunction((one) => document.querySelector("#open-url").value === one, one);
}
await look("colleague");
await option("ends with").click();
await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
await look("density");
assert.deepEqual(await findings(), []);
await option("setting").click();
await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
await look("cancel a crawl");
const [docs] = await Promise.all([page.context().waitForEvent("page"), option("Search the documentation").click()]);
await docs.getByRole("heading", { level: 1, name: "Results for “cancel a crawl”" }).waitFor();
await done("palette: ok");
