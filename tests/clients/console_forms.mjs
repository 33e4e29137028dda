// A form by keyboard: actions, format options, the body as JSON, search in the result, and the layout on a phone.
// Usage: console_forms.mjs ORIGIN KEY URL, where the page has a field #name, and a button #greet that greets that name

import assert from "node:assert/strict";
import { DESKTOP, PHONE, open } from "./console_browser.mjs";

const [origin, key, url] = process.argv.slice(2);
const { page, visit, fits, findings, done } = await open(origin, key);
const code = page.getByRole("region", { name: "Request code" });
const problems = page.locator("[data-problems]");
const tab = (name) => page.getByRole("tab", { name, exact: true });
const button = (name) => page.getByRole("button", { name, exact: true });
const focused = (id) => page.waitForFunction((id) => document.activeElement.closest("li.action")?.id === id, id);

// Actions can be added, moved and removed; a problem is shown at its action.
await visit(`/scrape?url=${encodeURIComponent(url)}`, "Scrape");
await page.locator("summary", { hasText: "Browser" }).click();
for (const [at, kind, field, text] of [
  [0, "click", "selector", "#name"],
  [1, "click", "selector", "#greet"],
  [2, "write", "text", "Ada"],
  [3, "wait"],
]) {
  await button("Add action").press("Enter");
  await focused(`f-actions-${at}`);
  await page.getByLabel(`Action ${at + 1}`, { exact: true }).selectOption(kind);
  if (field) await page.locator(`#f-actions-${at}-${field}`).fill(text);
}
// A select shows the default of the server.
const fourth = page.getByLabel("Action 4", { exact: true });
await fourth.selectOption("scroll");
assert.equal(await page.locator("#f-actions-3-direction").inputValue(), "down");
await fourth.selectOption("wait");
await page.keyboard.press("Control+Enter");
await problems.getByText("actions.3").click();
await focused("f-actions-3");
assert.deepEqual(await findings(), []);
await button("Remove action 4").press("Enter");
await focused("f-actions-2");
await page.keyboard.press("Alt+ArrowUp");
await focused("f-actions-1");
await code.getByText('"#greet"').waitFor();
const written = await code.innerText();
assert.ok(written.indexOf('"#name"') < written.indexOf('"Ada"') && written.indexOf('"Ada"') < written.indexOf('"#greet"'));
await page.keyboard.press("Control+Enter");
await page.locator(".prose", { hasText: "Hello Ada" }).waitFor({ timeout: 60_000 });
await tab("Actions").waitFor();

// The search covers every part of the result.
await button("Find in result").click();
const words = page.getByRole("textbox", { name: "Find in result" });
const places = page.locator(".find [role=status]");
await words.fill("PARAGRAPH");
await places.getByText("1 of 3", { exact: true }).waitFor();
await words.press("Enter");
await places.getByText("2 of 3", { exact: true }).waitFor();
await words.press("Shift+Enter");
await words.press("Shift+Enter");
await places.getByText("3 of 3", { exact: true }).waitFor();
assert.equal(await page.evaluate(() => CSS.highlights.get("found").size), 3);
await tab("Markdown").click();
await places.getByText(/^\d of 3$/).waitFor();
await words.fill("nowhere to be found");
await places.getByText("No matches").waitFor();
await words.press("Escape");
await words.waitFor({ state: "detached" });

// Options of a format, with a problem shown at its field; a schema built from rows.
await button("screenshot").click();
await page.locator("#f-formats-1-quality").fill("101");
await page.locator(".field", { has: page.locator("#f-formats-1-quality") }).locator(".field-error").waitFor();
await page.locator("#f-formats-1-quality").fill("80");
await button("json").click();
await button("Add field").click();
await page.getByLabel("Field name", { exact: true }).fill("greeting");
await code.getByText('"greeting"').waitFor();

// The JSON tab has the same body. Invalid JSON is kept and reported, and not sent.
await page.getByRole("tablist", { name: "Form or JSON" }).getByText("JSON").click();
const json = page.getByLabel("Request body as JSON");
assert.equal(JSON.parse(await json.inputValue()).formats[1].quality, 80);
let sent = 0;
page.on("request", (request) => (sent += Number(request.url().endsWith("/v2/scrape"))));
const broken = `{\n  "url": "${url}",\n  "formats": [markdown]\n}`;
await json.fill(broken);
await page.keyboard.press("Control+Enter");
await problems.getByText("Line 3, column 15: expected value").waitFor();
await tab("Form").click();
await page.getByRole("tablist", { name: "Form or JSON" }).getByText("JSON").click();
assert.equal(await json.inputValue(), broken);
await json.fill(`{\n  "url": "${url}",\n  "timeout": "soon"\n}`);
await page.keyboard.press("Control+Enter");
await problems.getByText("line 3, column 14").waitFor();
await problems.getByText("timeout").first().click();
assert.equal(await json.evaluate((one) => one.value.slice(one.selectionStart, one.selectionEnd)), '"soon"');
assert.equal(sent, 0);
await button("Clear").click();
await page.waitForFunction(() => document.querySelector("[data-json]").value === "{}");

// On a phone one part is shown at a time, and the result is shown automatically after a request.
await page.setViewportSize(PHONE);
await button("Form").click();
await json.fill(JSON.stringify({ url }));
await fits();
assert.ok(!(await page.locator("#result").isVisible()));
await page.getByRole("button", { name: "Scrape page" }).click();
await page.locator("#result pre, #result .prose").first().waitFor({ timeout: 60_000 });
assert.ok(!(await json.isVisible()));
await fits();
assert.deepEqual(await findings(), []);
await button("Code").click();
await code.waitFor();
await button("Form").click();
await json.waitFor();
await page.setViewportSize(DESKTOP);
await code.waitFor();

// The scrape can be opened again from the activity list while it is stored.
await visit("/activity", "Activity");
await page.locator("table.activity a", { hasText: "scrape" }).first().click();
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
await page.locator("#result pre, #result .prose").first().waitFor();

// The command palette switches between scrapes on the same screen.
await visit(`/scrape?url=${encodeURIComponent(`${url}?another`)}`, "Scrape");
assert.equal(await page.locator("#f-url").inputValue(), `${url}?another`);
await page.keyboard.press("Control+k");
await page.getByRole("combobox").fill(new URL(url).pathname);
await page.getByRole("option").filter({ hasText: "scrape" }).first().click();
await page.waitForFunction((url) => document.querySelector("#f-url").value === url, url);
await page.locator("#result pre, #result .prose").first().waitFor();
await done("forms: ok");
