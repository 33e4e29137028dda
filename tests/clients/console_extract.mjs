// An extract, from the form to its data and sources.
// Usage: console_extract.mjs ORIGIN KEY URL, where the page has a product named Cup

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, url] = process.argv.slice(2);
const { page, visit, fits, findings, done } = await open(origin, key);

await visit("/extract", "Extract");
await page.getByLabel(/^URLs/).fill(url);
await page.getByLabel(/^Prompt/).fill("The name and the price");
for (const [at, name, type] of [[0, "name", "string"], [1, "price", "number"]]) {
  await page.getByRole("button", { name: "Add field" }).click();
  await page.getByLabel("Field name", { exact: true }).nth(at).fill(name);
  await page.getByLabel("Type").nth(at).selectOption(type);
}
await page.getByRole("button", { name: "required" }).first().click();
await page.getByText('"required": ["name"]').first().waitFor();
assert.deepEqual(await findings(), []);

// A schema with a syntax error is reported and not sent.
const asJson = page.getByRole("button", { name: "Edit as JSON" });
const editor = page.getByLabel("Schema as JSON");
await asJson.click();
const schema = await editor.inputValue();
await editor.fill(`${schema},`);
await page.getByText(/^Line \d+, column \d+: trailing characters$/).waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("[data-problems]").getByText("schema").first().waitFor();
await editor.fill(schema);
await asJson.click();
await page.getByRole("button", { name: "Extract", exact: true }).click();
await page.waitForURL(/\/console\/extract\?id=[0-9a-f-]{36}$/);
await page.locator("#result .badge", { hasText: "completed" }).waitFor({ timeout: 60_000 });
await page.locator("#result pre", { hasText: '"name": "Cup"' }).waitFor();
await page.locator(".extract-sources a").first().waitFor();
await fits();
assert.deepEqual(await findings(), []);

// The URL alone shows it again.
await page.reload();
await page.locator("#result pre", { hasText: '"name": "Cup"' }).waitFor();
await done("extract: ok");
