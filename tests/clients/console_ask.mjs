// Questions to the documentation: an answer with sources, and the explanation of a failed request.
// Usage: console_ask.mjs ORIGIN KEY, after a failed crawl.

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, visit, findings, done } = await open(origin, key);

// An answer with sources that can be opened.
await visit("/ask", "Ask");
await page.getByText("No language model is configured").waitFor();
await page.getByRole("textbox", { name: /^Question/ }).fill("How do I limit the number of pages of a crawl?");
await page.keyboard.press("Control+Enter");
await page.locator(".answer .prose", { hasText: /\w{4}/ }).waitFor();
assert.deepEqual(await findings(), []);
const [place] = await Promise.all([page.context().waitForEvent("page"), page.locator(".sources a").first().click()]);
await place.waitForLoadState();
assert.ok(place.url().startsWith(`${origin}/docs/`), place.url());
await place.close();

// The explanation of a failed request.
await visit("/activity?outcome=failed", "Activity");
await page.getByRole("button", { name: "Explain" }).click();
const why = page.getByRole("dialog", { name: "Why this call failed" });
await why.locator(".notice.bad").waitFor();
await why.locator(".answer .prose").waitFor();
assert.deepEqual(await findings(), []);
await done("ask: ok");
