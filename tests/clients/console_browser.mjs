// Opens the console in Chromium, signed in with a key. Console errors and requests to other hosts fail the test at
// its end.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as accessibility from "./accessibility.mjs";

// NODE_PATH names the folder of the packages.
const packages = createRequire(process.env.NODE_PATH + "/");
const { chromium } = packages("playwright-core");

export const { DESKTOP, PHONE } = accessibility;

/** Opens the console of a server; `page` is signed in on the overview. `checked` allows axe to run in the page. */
export async function open(origin, key, { checked = true } = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.HARVESTMAN_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
  // The content security policy of the page would block axe.
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: "reduce", bypassCSP: checked });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
  });
  await page.goto(`${origin}/console/`);
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

  return {
    page,
    origin,
    complaints,
    /** Opens a screen by its path. */
    async visit(path, heading) {
      await page.goto(`${origin}/console${path}`);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    },
    /** Waits until the screen has loaded its data. */
    settled: () => page.waitForFunction(() => ![...document.querySelectorAll(".skeleton")].some((one) => one.checkVisibility())),
    fits: () => accessibility.fits(page),
    findings: () => accessibility.findings(page),
    isAccessible: () => accessibility.isAccessible(page),
    async done(word) {
      assert.deepEqual(complaints, []);
      await browser.close();
      console.log(word);
    },
  };
}
