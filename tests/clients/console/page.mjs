// Opens the console in Chromium, signed in, and records errors. Used by the other scripts in this folder.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const packages = createRequire(process.env.NODE_PATH + "/");
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

export const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

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

/** Asserts that axe finds nothing on the page, on desktop and phone, in both color schemes. */
export async function isAccessible(page) {
  await page.evaluate(axe);
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { iframes: false }));
      const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
      assert.deepEqual(found, [], `${page.url()}, ${viewport.width} px, ${colorScheme}`);
    }
  }
}

/** Waits for the heading of a screen. */
export async function heading(page, name) {
  await page.getByRole("heading", { level: 1, name }).waitFor({ timeout: 60_000 });
}

/** Asserts that the page does not scroll horizontally on a phone. */
export async function fitsThePhone(page) {
  await page.setViewportSize(PHONE);
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${page.url()} scrolls horizontally at 390 px: ${content}`);
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
