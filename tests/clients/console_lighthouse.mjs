// Runs Lighthouse on every screen of the console, signed in: accessibility 100, best practices at least 96, and on a
// desktop performance at least 95.
// Usage: console_lighthouse.mjs SIGN_IN_LINK KEY JOB_ID; HARVESTMAN_TEST_LIGHTHOUSE names the folder of Lighthouse.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [link, key, job] = process.argv.slice(2);
const origin = new URL(link).origin;
const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");
const entry = createRequire(process.env.HARVESTMAN_TEST_LIGHTHOUSE + "/").resolve("lighthouse");
const { default: lighthouse } = await import(pathToFileURL(entry));

const LEAST = { accessibility: 100, "best-practices": 96 };
const LEAST_ON_DESKTOP = { ...LEAST, performance: 95 };
const ROUTES = [
  "/", "/scrape", "/crawl", "/batch", "/map", "/search", "/extract", "/parse", "/agent", `/jobs/${job}`, "/sessions", "/activity", "/usage", "/keys", "/ask",
  "/tools", "/settings", "/nowhere",
];

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const profile = mkdtempSync(join(tmpdir(), "harvestman-lighthouse-"));
// Lighthouse opens a new tab in the same profile, so the key must be in local storage.
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.HARVESTMAN_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", `--remote-debugging-port=${port}`],
});
const page = await context.newPage();
await page.goto(`${origin}/console/`);
await page.evaluate((key) => localStorage.setItem("harvestman:apiKey", key), key);

// A pending poll may outlive its page; its failure does not matter.
process.on("unhandledRejection", (error) => {
  if (!/Session closed/.test(error?.message)) throw error;
});

const low = [];
for (const route of ROUTES) {
  for (const formFactor of ["desktop", "mobile"]) {
    const isPhone = formFactor === "mobile";
    const least = isPhone ? LEAST : LEAST_ON_DESKTOP;
    const { lhr } = await lighthouse(`${origin}/console${route}`, {
      port,
      output: "json",
      logLevel: "error",
      onlyCategories: Object.keys(least),
      disableStorageReset: true,
      throttlingMethod: "provided",
      // The console polls the server every 5 s, so the network never becomes idle. The figure of performance needs
      // five quiet seconds.
      maxWaitForLoad: isPhone ? 5_000 : 12_000,
      formFactor,
      screenEmulation: isPhone
        ? { mobile: true, width: 390, height: 844, deviceScaleFactor: 2 }
        : { mobile: false, width: 1440, height: 900, deviceScaleFactor: 1 },
    });
    // No score: one of its audits has failed to run.
    const scores = Object.entries(lhr.categories).map(([name, { score }]) => [name, score === null ? NaN : Math.round(score * 100)]);
    console.log(route.padEnd(46), formFactor.padEnd(8), scores.map(([name, score]) => `${name} ${score}`).join("  "));
    for (const [name, score] of scores) {
      if (score >= least[name]) continue;
      const weighted = lhr.categories[name].auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => lhr.audits[id]);
      const failed = weighted.filter((audit) => audit.errorMessage || (audit.score ?? 1) < 0.9);
      low.push(`${route} ${formFactor}: ${name} ${score}: ${failed.map(({ id, errorMessage }) => errorMessage ?? id).join(", ")}`);
    }
  }
}
await context.close();
rmSync(profile, { recursive: true, force: true });
assert.deepEqual(low, []);
console.log("lighthouse: ok");
