// The tools of the console: each processes its input in the browser, without requests to the server.
// Usage: console_tools.mjs ORIGIN KEY

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, visit, done } = await open(origin, key, { checked: false });

// The npm package is fetched from this server only when the tools are opened.
const fetched = [];
page.on("request", (request) => fetched.push(request));
const asksApi = (request) => /\/v2\//.test(request.url()) && request.method() === "POST";
assert.ok(!fetched.some((request) => request.url().endsWith("harvestman.wasm")));
await visit("/tools", "Tools");

const PAGE = `<html lang="en"><head><title>Web</title></head><body><nav><a href="/nav">Menu</a></nav>
  <main><h1>Spiders</h1><p>Eight <strong>legs</strong>, see <a href="/legs#all">more</a>.</p></main></body></html>`;
await page.getByLabel("HTML", { exact: true }).fill(PAGE);
await page.getByLabel("Page URL").fill("https://example.com/animals/");
await page.getByRole("tab", { name: "Markdown", exact: true }).click();
await page.locator("pre").filter({ hasText: "Eight **legs**, see [more](https://example.com/legs#all)." }).waitFor();
assert.ok(!(await page.locator("#tool-result").innerText()).includes("Menu"));
await page.getByRole("tab", { name: /^Links/ }).click();
await page.getByText("https://example.com/nav").waitFor();
await page.getByRole("switch", { name: "Main content only" }).uncheck();
await page.getByRole("tab", { name: "Markdown", exact: true }).click();
await page.locator("pre").filter({ hasText: "Menu" }).waitFor();
assert.ok(fetched.some((request) => request.url().endsWith("harvestman.wasm") && request.url().startsWith(origin)));

await page.getByRole("tab", { name: "Crawl scope" }).click();
await page.getByLabel("Start URL").fill("https://example.com/docs/");
await page.getByLabel("Exclude paths").fill("/old/");
await page.getByLabel("Links to test").fill("https://example.com/docs/new\nhttps://example.com/docs/old/a\nhttps://example.org/\nnothing");
await page.locator(".verdict").nth(3).waitFor();
const verdicts = await page.locator(".verdict .badge").allInnerTexts();
assert.deepEqual(verdicts, ["in", "out", "out", "out"]);
assert.match(await page.locator(".verdict").nth(1).innerText(), /excludePaths/i);
await page.getByLabel("Discovery depth").fill("-1");
await page.getByRole("alert").getByText("must be a whole number from 0").waitFor();
await page.getByLabel("Discovery depth").fill("2");
await page.locator(".verdict").nth(3).waitFor();
assert.ok(page.url().endsWith("?tool=scope"), "each tool has a URL");

await page.getByRole("tab", { name: "robots.txt" }).click();
await page.getByRole("textbox", { name: "robots.txt" }).fill("User-agent: *\nDisallow: /private\nCrawl-delay: 2\nSitemap: https://example.com/map.xml\n\nUser-agent: mine\nAllow: /\n");
await page.getByLabel("URL", { exact: true }).fill("https://example.com/private/a");
await page.locator("[data-verdict]", { hasText: "blocked" }).waitFor();
await page.getByText("Disallow: /private on line 2").waitFor();
await page.getByText("2 s between requests").waitFor();
await page.getByLabel("User agent").fill("mine");
await page.locator("[data-verdict]", { hasText: "allowed" }).waitFor();
await page.getByText("Allow: / on line 7").waitFor();

await page.getByRole("tab", { name: "Sitemap" }).click();
await page.getByRole("textbox", { name: "Sitemap", exact: true }).fill("<urlset><url><loc>https://example.com/a</loc></url><url><loc>/b</loc></url></urlset>");
await page.getByText("https://example.com/b").waitFor();
await page.getByRole("textbox", { name: "Sitemap", exact: true }).fill("<html></html>");
await page.getByRole("alert").filter({ hasText: "not a sitemap" }).waitFor();

await page.getByRole("tab", { name: "Webhook signature" }).click();
const body = JSON.stringify({ success: true, type: "crawl.page", id: "x", data: [] });
const signature = `sha256=${createHmac("sha256", "kept").update(body).digest("hex")}`;
await page.getByLabel("Body as received").fill(body);
await page.getByLabel("Secret").fill("kept");
await page.getByLabel("Signature header").fill(signature);
await page.locator("[data-verdict]", { hasText: "signature valid" }).waitFor();
await page.getByLabel("Body as received").fill(`${body} `);
await page.locator("[data-verdict]", { hasText: "signature invalid" }).waitFor();

assert.deepEqual(fetched.filter(asksApi).map((request) => request.url()), []);
await done("tools: ok");
