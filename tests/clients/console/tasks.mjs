// Ten tasks of a new user, each from the overview that the sign-in link opens, with a bound on the clicks it takes. A
// field that is clicked before typing counts as one click, as does a file that is chosen; keys do not count.
// Usage: tasks.mjs SIGN_IN_LINK SITE_URL, where the site has / with links, /cups with products, /loops/ with five links
// that redirect to themselves, and /members, which asks for a name with an input near its top left corner and greets by
// it from then on.

import assert from "node:assert/strict";
import { clickInView, close, heading, liveView, open, saved } from "./page.mjs";

const [link, site] = process.argv.slice(2);
const session = await open(link);
const { page, origin } = session;
page.setDefaultTimeout(60_000);
let clicks = 0;
async function click(target) {
  clicks += 1;
  await target.click();
}
async function fill(target, text) {
  clicks += 1;
  await target.fill(text);
}
async function signInInView(text) {
  clicks += 1;
  await liveView(page).locator("#mode").getByText("You have control").waitFor();
  await liveView(page).getByLabel("The browser's page: Sign in").waitFor();
  await clickInView(page, 40, 40);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}
/** Types into the field of a schema that was just added. */
async function typeInNewField(text) {
  await page.waitForFunction(() => document.activeElement.matches("[data-row] input") && !document.activeElement.value);
  await page.keyboard.type(text);
}
const button = (name) => page.getByRole("button", { name, exact: true });
const screen = (name) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
const tab = (name) => page.getByRole("tab", { name });
const url = page.locator("#f-url");
const recent = page.getByRole("region", { name: "Recent activity" }).getByRole("link");
const recentCrawl = (path) => recent.filter({ hasText: new RegExp(`crawl.*${site.split("//")[1]}${path}`) }).first();
const status = (word) => page.locator("h1 .badge").getByText(word, { exact: true }).waitFor();
async function openBrowser(path, profile) {
  await click(screen("Sessions"));
  await fill(page.getByLabel("First URL"), site + path);
  if (profile) await fill(page.getByLabel("Profile"), profile);
  await click(button("Open browser"));
  await status("live");
}

/** Sends a request to the API with the key of this sign-in. */
const api = (path, body) => page.evaluate(async ([path, body]) => {
  const key = [sessionStorage, localStorage].map((store) => store.getItem("harvestman:apiKey")).find(Boolean);
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const response = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  return response.json();
}, [path, body]);
async function crawl(path) {
  const { id } = await api("/v2/crawl", { url: site + path });
  while ((await api(`/v2/crawl/${id}`)).status === "scraping") await page.waitForTimeout(100);
}
await crawl("/old");
for (let at = 0; at < 12; at += 1) await api("/v2/scrape", { url: `${site}/cups` });
for (const path of ["/", "/", "/loops/"]) await crawl(path);

const TASKS = {
  "Crawl a site and export its Markdown": [5, async () => {
    await click(screen("Crawl"));
    await fill(url, `${site}/`);
    await click(button("Start crawl"));
    await status("completed");
    await click(button("Export"));
    const { name } = await saved(page, () => click(page.getByRole("button", { name: /^ZIP of Markdown/ })));
    assert.match(name, /\.zip$/);
  }],
  "Find why 5 pages failed, and retry them": [3, async () => {
    await click(recentCrawl("/loops"));
    await click(page.getByRole("button", { name: /^5\s*Failed$/ }));
    await page.locator(".error-row", { hasText: "redirect" }).nth(4).waitFor();
    await click(button("Retry 5 failed pages"));
    await heading(page, /5 pages on/);
  }],
  "Scrape a page behind a login with a profile": [7, async () => {
    await openBrowser("/members", "members");
    await signInInView("Ada");
    await liveView(page).getByLabel("The browser's page: Hello Ada").waitFor();
    await click(button("Save profile and scrape"));
    await heading(page, "Scrape");
    await click(button("Scrape page"));
    await page.locator("#result .prose").getByText("Welcome, Ada").waitFor();
  }],
  "Compare two crawls of a site": [2, async () => {
    await click(recentCrawl("(?![/\\d])"));
    await click(tab("Compare"));
    await page.getByText(/pages? (is|are) the same/).waitFor();
  }],
  "Extract a table of products": [6, async () => {
    await click(screen("Extract"));
    await fill(page.getByLabel(/^URLs/), `${site}/cups`);
    await click(button("Add field"));
    await typeInNewField("products");
    await click(page.getByLabel("Type", { exact: true }));
    await page.getByLabel("Type", { exact: true }).selectOption("objects");
    await click(button("Add field to products"));
    await typeInNewField("name");
    await page.keyboard.press("Enter");
    await typeInNewField("price");
    await click(button("Extract"));
    await page.locator("#result pre", { hasText: "Blue cup" }).waitFor();
  }],
  "Take over a session and save its steps": [7, async () => {
    await openBrowser("/members");
    await click(tab("Recorder"));
    await click(button("Start recording"));
    await signInInView("Grace");
    await page.getByRole("region", { name: "Recorded steps" }).getByText("press").waitFor();
    await click(button("Use in scrape"));
    await heading(page, "Scrape");
    assert.equal(await url.inputValue(), `${site}/members`);
    await page.getByRole("region", { name: "Request code" }).getByText('"Grace"').waitFor();
  }],
  "Scrape 50 URLs of a CSV file": [3, async () => {
    await click(screen("Batch"));
    const lines = Array.from({ length: 50 }, (_, at) => `${at},${site}/?${at}`);
    const buffer = Buffer.from(["number,url", ...lines].join("\n"));
    clicks += 1;
    await page.locator("input[type=file]").setInputFiles({ name: "pages.csv", mimeType: "text/csv", buffer });
    await page.getByText("50 URLs on 1 host").waitFor();
    await click(button("Start batch"));
    await status("completed");
  }],
  "Watch a page for changes": [4, async () => {
    await click(screen("Monitors"));
    await fill(page.getByLabel("URLs, one per line"), `${site}/cups`);
    await click(button("Create monitor"));
    await click(button("Check now"));
    await page.getByRole("heading", { level: 2, name: "1 new" }).waitFor();
  }],
  "Find an old crawl": [2, async () => {
    assert.equal(await recentCrawl("/old").count(), 0);
    await click(page.getByRole("button", { name: /Go to/ }));
    await page.keyboard.type("/old");
    await click(page.getByRole("option").filter({ hasText: "crawl completed" }));
    await heading(page, /\/old/);
  }],
  "Give a colleague a key, and see its use": [5, async () => {
    await click(screen("Keys"));
    await fill(page.getByLabel(/^Key name/), "colleague");
    await click(button("Create key"));
    await click(button("Copy"));
    const key = await page.locator("#new-key .secret").innerText();
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const response = await fetch(`${origin}/v2/map`, { method: "POST", headers, body: JSON.stringify({ url: `${site}/` }) });
    assert.equal(response.status, 200);
    await click(page.getByRole("link", { name: "colleague" }));
    await heading(page, "Activity");
    await page.locator("table.activity tbody tr", { hasText: "map" }).waitFor();
  }],
};

for (const [name, [most, task]] of Object.entries(TASKS)) {
  await page.goto(`${origin}/console/`);
  await recent.first().waitFor();
  clicks = 0;
  await task();
  console.log(`${name}: ${clicks} clicks`);
  assert.ok(clicks <= most, `${name}: ${clicks} clicks, at most ${most}`);
}
await close(session, "tasks: ok");
