// Hostile pages: none of their code runs in the console, breaks its layout or stops it.
// Usage: hostile.mjs SIGN_IN_LINK SITE_URL PATH...

import assert from "node:assert/strict";
import { close, fitsThePhone, heading, open } from "./page.mjs";

const [link, site, ...paths] = process.argv.slice(2);
const session = await open(link);
const { page, origin } = session;
const ALL = ["markdown", "html", "rawHtml", "links", "images"];

await page.goto(`${origin}/console/settings`);
for (const path of paths) {
  const query = new URLSearchParams({ url: site + path, formats: JSON.stringify(ALL), onlyMainContent: "false" });
  await page.goto(`${origin}/console/scrape?${query}`);
  await heading(page, "Scrape");
  await page.getByRole("button", { name: "Scrape page" }).click();
  const tabs = page.getByRole("tablist", { name: "Parts of the page" }).getByRole("tab");
  await tabs.first().waitFor({ timeout: 120_000 });
  for (let at = 0; at < (await tabs.count()); at++) {
    await tabs.nth(at).click();
    await page.locator("#viewer-panel > *").first().waitFor();
    // The console still works, and no active content of the hostile page is in it.
    const alive = await page.evaluate(() => ({
      harmed: window.harmed ?? null,
      scripts: document.querySelectorAll("#viewer-panel script, #viewer-panel iframe, #viewer-panel object, #viewer-panel style, #viewer-panel form").length,
      handlers: [...document.querySelectorAll("#viewer-panel *")].filter((node) =>
        [...node.attributes].some((attribute) => attribute.name.startsWith("on")),
      ).length,
      links: [...document.querySelectorAll("#viewer-panel a")].map((link) => [link.protocol, link.rel, link.target]),
      pictures: [...document.querySelectorAll("#viewer-panel img")].map((picture) => picture.src),
    }));
    assert.deepEqual([alive.harmed, alive.scripts, alive.handlers, alive.pictures], [null, 0, 0, []], path);
    for (const [protocol, rel, target] of alive.links) {
      assert.ok(["http:", "https:", "mailto:"].includes(protocol), `${path}: ${protocol}`);
      assert.deepEqual([rel, target], ["noopener noreferrer nofollow", "_blank"]);
    }
  }
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).direction), "ltr");
  await fitsThePhone(page);
}

await close(session, "hostile pages: ok");
