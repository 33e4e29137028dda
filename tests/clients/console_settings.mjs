// Settings of this device, the command palette and the keyboard shortcuts.
// Usage: console_settings.mjs ORIGIN KEY

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, visit, complaints, findings, done } = await open(origin, key);
const root = page.locator("html");

await visit("/settings", "Settings");
await page.getByRole("button", { name: "Dark" }).click();
await page.getByRole("button", { name: "Compact" }).click();
await page.getByRole("group", { name: "Default formats" }).getByRole("button", { name: "links" }).click();
await page.getByRole("switch", { name: "Remember on this device" }).check();

// The settings outlive the tab and apply before the first paint.
await page.evaluate(() => sessionStorage.clear());
await visit("/scrape", "Scrape");
assert.equal(await root.getAttribute("data-theme"), "dark");
assert.equal(await root.getAttribute("data-density"), "compact");
const chosen = page.locator(".chip[aria-pressed=true]");
assert.deepEqual((await chosen.allInnerTexts()).slice(0, 2), ["markdown", "links"]);

// The command palette: opened by its shortcut, filtered by name, navigated by arrow keys.
await page.locator("h1").click();
const search = page.getByRole("combobox", { name: "Screen, job, URL or action" });
const openPalette = async () => {
  await page.keyboard.press("Control+k");
  await search.and(page.locator(":focus")).waitFor();
};
await openPalette();
assert.deepEqual(await findings(), []);
await page.keyboard.type("usa");
await page.getByRole("option", { name: /^Usage/ }).waitFor();
await page.keyboard.press("Escape");
await search.waitFor({ state: "hidden" });
await openPalette();
await page.keyboard.type("tool");
await page.getByRole("option", { name: /^Tools/ }).waitFor();
await page.keyboard.press("Enter");
await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
await openPalette();
await page.keyboard.type("theme");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.locator("html[data-theme=light]").waitFor();

// The keyboard shortcuts.
await page.locator("h1").click();
await page.keyboard.press("?");
await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
assert.deepEqual(await findings(), []);
await page.keyboard.press("Escape");
await page.keyboard.press("g");
await page.keyboard.press("t");
await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();

// Clearing local data removes everything.
await page.getByRole("button", { name: "Clear local data" }).first().click();
await page.getByRole("dialog").getByRole("button", { name: "Clear local data" }).click();
await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
const kept = await page.evaluate(() => [localStorage, sessionStorage].flatMap((store) => Object.keys(store)));
assert.deepEqual(kept.filter((name) => name.startsWith("harvestman:")), []);
assert.equal(await root.getAttribute("data-theme"), null);
assert.equal(await root.getAttribute("data-density"), null);

// A late refusal of an earlier key does not end the new sign-in.
const signIn = async (key) => {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
};
const isPoll = (request) => request.url().endsWith("/v2/crawl/active");
let hold;
await page.route(/\/(v2|console\/api)\//, (route) => {
  const { authorization, ...headers } = route.request().headers();
  if (authorization !== "Bearer fc-earlier") return route.continue();
  if (hold && isPoll(route.request())) return hold(route);
  return route.continue({ headers: { ...headers, authorization: `Bearer ${key}` } });
});
await signIn("fc-earlier");
const late = await new Promise((done) => { hold = done; });
await page.getByRole("button", { name: "Change API key" }).click();
await signIn(key);
const polls = page.waitForRequest((request) => isPoll(request) && request.headers().authorization === `Bearer ${key}`);
await late.fulfill({ status: 401, json: { success: false, error: "unknown API key", code: "UNAUTHORIZED" } });
await polls;
assert.equal(await page.getByRole("heading", { level: 1, name: "Sign in" }).count(), 0);
assert.match(complaints.pop(), /401/);
await done("settings: ok");
