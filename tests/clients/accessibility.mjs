// Checks of a page that need no knowledge of what it shows. Used by the scripts of the console.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(process.env.NODE_PATH + "/").resolve("axe-core/axe.min.js"), "utf8");

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Rules whose result depends on the color scheme. */
const COLORS = { runOnly: ["color-contrast", "link-in-text-block"] };

/** Returns the violations that axe finds on the page. `options` are its own. */
export async function findings(page, options = {}) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (options) => globalThis.axe.run(document, { resultTypes: ["violations"], preload: false, iframes: false, ...options }),
    options,
  );
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

/** Asserts that the page does not scroll horizontally, and that no card and no one-line field cuts off its text. */
export async function fits(page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${page.url()} scrolls horizontally at ${window} px: ${content}`);
  const cut = await page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d");
    const isCut = (field) => {
      const style = getComputedStyle(field);
      context.font = style.font;
      const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return context.measureText(field.placeholder).width > room;
    };
    const fields = [...document.querySelectorAll("input:placeholder-shown")].filter((field) => field.checkVisibility());
    return fields.filter(isCut).map((field) => field.placeholder);
  });
  assert.deepEqual(cut, [], `${page.url()} cuts off placeholders at ${window} px`);
  const cards = await page.evaluate(() => {
    const cards = [...document.querySelectorAll(".card")].filter((card) => card.checkVisibility());
    return cards.filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.ariaLabel ?? card.className);
  });
  assert.deepEqual(cards, [], `${page.url()} cuts off cards at ${window} px`);
}

/** Asserts that axe finds nothing and the page fits, on phone and desktop, in both color schemes. */
export async function isAccessible(page) {
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    await fits(page);
    for (const [colorScheme, options] of [["dark", COLORS], ["light"]]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      assert.deepEqual(await findings(page, options), [], `${page.url()}, ${viewport.width} px, ${colorScheme}`);
    }
  }
}
