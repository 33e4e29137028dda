// What a form says before its request is sent, and how long its result is kept.
// Usage: console_notices.mjs ORIGIN KEY SITE, where SITE is the URL of a site with the page /docs/index.html that links
// to /a and /b, on a server without a language model and without a search provider

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, site] = process.argv.slice(2);
const { page, visit, complaints, findings, done } = await open(origin, key);
const notice = page.getByRole("note");
const button = (name) => page.getByRole("button", { name, exact: true });
const result = page.locator("#result");

// What is not configured is marked before the run, with what works instead.
await visit(`/scrape?url=${encodeURIComponent(`${site}/a`)}`, "Scrape");
assert.equal(await notice.count(), 0);
await button("json").click();
await page.locator("#f-formats-1-prompt").fill("The title");
await notice.filter({ hasText: "schema" }).waitFor();
assert.deepEqual(await findings(), []);
await button("Add field").click();
await page.getByLabel("Field name", { exact: true }).fill("title");
await notice.waitFor({ state: "detached" });
await visit("/extract", "Extract");
await page.getByLabel(/^URLs/).fill(`${site}/a`);
await page.getByLabel(/^Prompt/).fill("The title");
await notice.filter({ hasText: "schema" }).waitFor();
await button("Add field").click();
await page.getByLabel("Field name", { exact: true }).fill("title");
await notice.waitFor({ state: "detached" });
await visit("/search", "Search");
await page.getByRole("searchbox", { name: /^Query/ }).fill("page");
await notice.filter({ hasText: "HARVESTMAN_SEARCH_URL" }).waitFor();

// The preview looks at the links of the start page, and offers the whole site.
await visit(`/crawl?url=${encodeURIComponent(`${site}/docs/index.html`)}`, "Crawl");
await button("Preview site").click();
await page.getByText("None of its 2 links is in scope below /docs/index.html.").waitFor();
await button("Crawl the whole site").click();
await page.getByText("2 of its 2 links are in scope.").waitFor();
await button("Crawl the whole site").waitFor({ state: "detached" });
await page.getByText('"crawlEntireDomain": true').first().waitFor();
await page.locator("[data-url]").fill(`${site}/a`);
await page.getByText("2 of its 2 links are in scope.").waitFor({ state: "detached" });

// The URL carries the result of a scrape, also over a reload and in the history.
const scrape = async (path) => {
  await visit(`/scrape?url=${encodeURIComponent(site + path)}`, "Scrape");
  await button("Scrape page").click();
  await page.waitForURL(/\/scrape\?id=[0-9a-f-]{36}$/);
  await result.getByRole("heading", { name: `Page ${path}` }).first().waitFor();
  return page.url();
};
const first = await scrape("/a");
await result.getByText(/result expires in \d+ (h|d)/).waitFor();
const second = await scrape("/b");
await page.reload();
await result.getByRole("heading", { name: "Page /b" }).first().waitFor();
await page.goto(first);
await result.getByRole("heading", { name: "Page /a" }).first().waitFor();
await page.goBack();
await page.waitForURL(second);
await result.getByRole("heading", { name: "Page /b" }).first().waitFor();
await page.goForward();
await page.waitForURL(first);
await result.getByRole("heading", { name: "Page /a" }).first().waitFor();
await page.goto(`${origin}/console/scrape?id=00000000-0000-4000-8000-000000000000`);
await result.getByRole("alert").waitFor();
assert.match(complaints.pop(), /404/);

// So it does after an extraction and a question.
await visit(`/extract?urls=${encodeURIComponent(`${site}/a`)}`, "Extract");
await button("Add field").click();
await page.getByLabel("Field name", { exact: true }).fill("title");
await button("Extract").click();
await result.getByText(/result expires in \d+ (h|d)/).waitFor();
await visit("/ask?question=How+do+I+cancel+a+crawl%3F", "Ask");
const question = page.getByRole("textbox", { name: /^Question/ });
assert.equal(await question.inputValue(), "How do I cancel a crawl?");
assert.equal(await result.locator(".answer").count(), 0, "a question in the URL is not sent");
await button("Ask").click();
await page.waitForURL(/\/ask\?id=/);
await result.getByText("kept in this browser").waitFor();
await page.reload();
await result.getByRole("heading", { name: "How do I cancel a crawl?" }).waitFor();
assert.equal(await question.inputValue(), "How do I cancel a crawl?");
await page.goto(`${origin}/console/ask?id=nowhere`);
await result.getByText("This result is no longer stored in this browser.").waitFor();

// Without cache storage, for example over plain HTTP, nothing is kept.
await page.addInitScript(() => Object.defineProperty(self, "caches", { value: undefined }));
await visit("/ask?question=How+do+I+cancel+a+crawl%3F", "Ask");
await button("Ask").click();
await result.locator(".answer").first().waitFor();
assert.equal(await result.getByText("kept in this browser").count(), 0);
await done("notices: ok");
