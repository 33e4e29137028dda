// The command palette finds jobs on the server, keys, settings and the documentation, and works by keyboard.
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

// The keyboard selects a result and opens it, and closes the palette.
await look("theme");
const selected = page.locator("[role=option][aria-selected=true]");
const first = await selected.innerText();
await page.keyboard.press("ArrowDown");
const second = await selected.innerText();
assert.notEqual(second, first);
await page.keyboard.press("ArrowUp");
assert.equal(await selected.innerText(), first);
await page.keyboard.press("Escape");
await input.waitFor({ state: "hidden" });
await look("monitors");
await page.keyboard.press("Enter");
await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();

await look("cancel a crawl");
const [docs] = await Promise.all([page.context().waitForEvent("page"), option("Search the documentation").click()]);
await docs.getByRole("heading", { level: 1, name: "Results for “cancel a crawl”" }).waitFor();
await done("palette: ok");
