// Opens the console in Chromium, signed in, and records errors. Used by the other scripts in this folder.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { DESKTOP, PHONE, fits } from "../accessibility.mjs";

// NODE_PATH names the folder of the packages.
const packages = createRequire(process.env.NODE_PATH + "/");
const { chromium } = packages("playwright-core");

export { DESKTOP, isAccessible } from "../accessibility.mjs";

/**
 * Signs in with the link that the server printed. `complaints` collects errors, dialogs and foreign requests. `checked`
 * allows axe to run in the page, which its content security policy would block.
 */
export async function open(link, { checked = false } = {}) {
  const origin = new URL(link).origin;
  const browser = await chromium.launch({
    executablePath: process.env.HARVESTMAN_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
  const context = await browser.newContext({ viewport: DESKTOP, acceptDownloads: true, bypassCSP: checked });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
  });
  await page.goto(link);
  await heading(page, "Overview");
  return { browser, page, origin, complaints };
}

/** Waits for the heading of a screen. */
export async function heading(page, name) {
  await page.getByRole("heading", { level: 1, name }).waitFor({ timeout: 60_000 });
}

/** Asserts that the page does not scroll horizontally on a phone. */
export async function fitsThePhone(page) {
  await page.setViewportSize(PHONE);
  await fits(page);
  await page.setViewportSize(DESKTOP);
}

/** Returns name and contents of the file that a click downloads. */
export async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** Returns the live view of a session. */
export const liveView = (page) => page.frameLocator("iframe.live-frame");

/** Clicks the page that the live view of a session shows, at a position in this page. */
export async function clickInView(page, x, y) {
  const picture = liveView(page).locator("#picture[data-drawn]");
  await picture.waitFor({ timeout: 60_000 });
  const box = await picture.boundingBox();
  const [width, height] = await picture.evaluate((canvas) => [canvas.width, canvas.height]);
  const scale = Math.min(box.width / width, box.height / height);
  await picture.click({ position: { x: (box.width - width * scale) / 2 + x * scale, y: y * scale } });
}

/** Closes the browser; fails if there were complaints. */
export async function close({ browser, complaints }, done) {
  assert.deepEqual(complaints, []);
  await browser.close();
  console.log(done);
}
