// A file is converted, and its URL shows the result again.
// Usage: console_parse.mjs ORIGIN KEY

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, visit, isAccessible, done } = await open(origin, key);
const result = page.locator("#result");
const code = page.getByRole("region", { name: "Request code" });

await visit("/parse", "Parse");
await page.getByRole("button", { name: "Convert file" }).click();
await page.locator(".field-error", { hasText: "Choose a file first." }).waitFor();

// A file that is chosen, with what is not its main content.
const html = "<title>Herons</title><nav>Menu</nav><main><h1>Herons</h1><p>Herons <a href='https://e.com/'>wade</a>.</p></main>";
const file = { name: "herons.html", mimeType: "text/html", buffer: Buffer.from(html) };
await page.getByLabel("Choose file").setInputFiles(file);
await page.getByText("herons.html, ").waitFor();
await page.getByRole("button", { name: "links", exact: true }).click();
await code.getByText('file=@"herons.html"').waitFor();
await code.getByText('"links"').waitFor();
await page.keyboard.press("Control+Enter");
await page.waitForURL(/\/parse\?id=[0-9a-f-]{36}$/);
await result.locator(".card-head").getByRole("heading", { name: "Herons" }).waitFor();
await result.getByText(/result expires in \d+ (h|d)/).waitFor();
await result.getByRole("tab", { name: /^Links\s*1$/ }).waitFor();
await result.getByRole("tab", { name: "Rendered" }).click();
await result.locator(".prose", { hasText: "Herons wade." }).waitFor();
assert.ok(!/Menu|Interact|HTTP/.test(await result.innerText()));
await isAccessible();
await page.reload();
await result.locator(".prose", { hasText: "Herons wade." }).waitFor();

// A file that is dropped, whole.
const dropped = await page.evaluateHandle((html) => {
  const data = new DataTransfer();
  data.items.add(new File([html], "dropped.html", { type: "text/html" }));
  return data;
}, html);
await page.locator(".url-import").dispatchEvent("drop", { dataTransfer: dropped });
await page.getByText("dropped.html, ").waitFor();
await page.getByRole("switch", { name: "Main content only" }).uncheck();
await page.getByRole("button", { name: "Convert file" }).click();
await result.locator(".prose", { hasText: "Menu" }).waitFor();

// The activity list leads to the result.
await visit("/activity?endpoint=parse", "Activity");
await page.locator("table.activity a", { hasText: "herons.html" }).first().click();
await page.getByRole("heading", { level: 1, name: "Parse" }).waitFor();
await result.locator(".prose", { hasText: "Herons wade." }).waitFor();
await done("parse: ok");
