// The console in Chromium, signed in by a key. Whatever the page complains about, and every request to
// another host, is an error at the end.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The packages stand in a folder of their own, named by NODE_PATH.
const packages = createRequire(process.env.NODE_PATH + "/");
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Opens the console of a server; `page` is signed in at the overview. With `checked` axe may look at it. */
export async function open(origin, key, { checked = true } = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.HARVESTMAN_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
  // The policy of the page would keep the checker out.
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
    /** Goes to a screen by its address. */
    async visit(path, heading) {
      await page.goto(`${origin}/console${path}`);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    },
    /** What is on its way to the screen is there. */
    settled: () => page.waitForFunction(() => ![...document.querySelectorAll(".wait")].some((one) => one.checkVisibility())),
    /** Nothing sticks out at the width of the window. */
    async fits() {
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= window, `${page.url()} scrolls sideways at ${window} px: ${content}`);
    },
    /** What axe finds on the page as it stands. */
    async findings() {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document));
      return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
    },
    async done(word) {
      assert.deepEqual(complaints, []);
      await browser.close();
      console.log(word);
    },
  };
}
