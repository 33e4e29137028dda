// Maps, crawls and batches in the console: form, list, tree, graph, errors, exports, and running a request again.
// Usage: jobs.mjs SIGN_IN_LINK SITE_URL PAGES SLOW_URL, where the site has PAGES pages and a sitemap, and links to a
// missing page and to one that robots.txt disallows; the slow site responds slowly.

import assert from "node:assert/strict";
import { DESKTOP, close, fitsThePhone, heading, open, saved } from "./page.mjs";

const [link, site, pages, slow] = process.argv.slice(2);
const session = await open(link);
const { page, origin } = session;
const tab = (name) => page.getByRole("tab", { name }).click();
const status = (word) => page.locator("h1 .badge").getByText(word, { exact: true }).waitFor({ timeout: 120_000 });
const jobId = () => new URL(page.url()).pathname.split("/").pop();
const form = async (screen, url) => {
  await page.goto(`${origin}/console/${screen}?url=${encodeURIComponent(url)}`);
  assert.equal(await page.locator("input.big").inputValue(), url);
};

// Crawl options from a description, and a preview before the start.
await form("crawl", site);
await page.getByLabel(/^Crawl description/).fill("at most 500 pages, only /more, sing a song");
await page.getByRole("button", { name: "Suggest options" }).click();
await page.locator(".suggestions").getByText("limit", { exact: true }).waitFor({ timeout: 60_000 });
assert.equal(await page.getByLabel(/^Page limit/).inputValue(), "500");
await page.locator(".suggestions").getByLabel(/^limit/).uncheck();
assert.equal(await page.getByLabel(/^Page limit/).inputValue(), "");
await page.locator(".suggestions").getByLabel(/^limit/).check();
await page.locator(".clauses").getByText("sing a song").waitFor();
assert.equal(await page.locator(".clauses li").count(), 1);
await page.locator(".pattern-counts").getByText(/matches 1 of \d+ known URLs/).first().waitFor({ timeout: 60_000 });
await page.locator(".suggestions").getByLabel(/^includePaths/).uncheck();
await page.getByRole("button", { name: "Preview site" }).click();
await page.getByText("The start page is allowed.").waitFor({ timeout: 60_000 });
await page.getByText(/in scope, \d+ out of scope/).waitFor();
await fitsThePhone(page);

// The crawl and its views.
await page.getByRole("button", { name: "links", exact: true }).click();
await page.getByRole("button", { name: "Start crawl" }).click();
await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
const crawl = jobId();
await status("completed");
await page.getByRole("tab", { name: new RegExp(`^Pages\\s*${pages}$`) }).waitFor();
await page.getByLabel("Filter pages").fill("no such page");
await page.getByText("No page matches the filter.").waitFor();
await page.waitForURL(/\?search=no%20such%20page$/);
await page.getByLabel("Filter pages").fill("");
await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
await tab("Tree");
await page.waitForURL(/\?tab=tree$/);
const tree = page.getByRole("tree", { name: "Pages by path" });
await tree.getByRole("treeitem").first().waitFor();
await tree.focus();
for (const key of ["End", "Enter"]) await page.keyboard.press(key);
await page.locator("#open-page [role=tabpanel]").waitFor();
await fitsThePhone(page);
// A reload restores the state in the URL, and the back button goes through the tabs.
const chosen = (name) => page.getByRole("tab", { name, selected: true }).waitFor();
await page.waitForURL(/\?tab=tree&page=\d+$/);
await page.reload();
await chosen("Tree");
await page.locator("#open-page [role=tabpanel]").waitFor();
await tab("Graph");
await page.waitForURL(/\?tab=graph&page=\d+$/);
await page.goBack();
await chosen("Tree");
await page.goBack();
await chosen(/^Pages/);
await page.goForward();
await page.goForward();
await chosen("Graph");
const picture = page.getByRole("img", { name: new RegExp(`^${pages} pages and \\d+ links`) });
await picture.waitFor();
await picture.scrollIntoViewIfNeeded();
const box = await picture.boundingBox();
await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
await page.locator(`#open-page .card-foot a[href="${site}"]`).waitFor();
// The row of the page in the URL is scrolled into view.
await page.goto(`${origin}/console/jobs/${crawl}?page=${pages - 1}`);
await page.waitForFunction((row) => {
  const [list, own] = [".grid", row].map((one) => document.querySelector(one)?.getBoundingClientRect());
  return own && own.top >= list.top && own.bottom <= list.bottom;
}, `#page-${pages - 1}`);
// URLs that robots.txt blocks are not among the errors.
await tab(/^Errors/);
await page.waitForURL(/tab=errors/);
assert.ok(!(await page.locator("#job-panel").innerText()).includes("/forbidden/page"));
await page.getByRole("tab", { name: /^Blocked\s*\d+$/ }).click();
await page.getByRole("region", { name: "Blocked by robots.txt" }).getByText("/forbidden/page").waitFor();
await page.getByText(/result expires in \d+ (d|h|min)/).waitFor();

// The figures of the health card show the pages that they count.
await page.goto(`${origin}/console/jobs/${crawl}`);
const health = page.getByRole("region", { name: "Health" });
const figure = (name) => health.getByRole("button", { name });
await figure("HTTP errors").click();
await page.waitForURL(/\?only=errors$/);
const grid = page.getByRole("grid", { name: "Pages" });
const rows = grid.locator(".grid-space [role=row]");
await grid.getByText("/gone").waitFor();
assert.equal(String(await rows.count()), (await figure("HTTP errors").innerText()).split("\n")[0]);
await figure("Largest page").click();
await page.waitForURL(/\?sort=-size$/);
const largest = (await figure("Largest page").innerText()).split("\n")[0];
assert.equal(await rows.first().locator(".num").nth(1).innerText(), largest);
await figure("Slowest page").click();
await page.waitForURL(/\?sort=-time$/);
await figure("Blocked").click();
await chosen(/^Blocked/);
await fitsThePhone(page);
await tab(/^Pages/);

// Columns, and chips of depths.
await page.getByText("Columns", { exact: true }).click();
await page.getByRole("checkbox", { name: "Depth" }).check();
await page.getByRole("columnheader", { name: "Depth" }).waitFor();
await page.keyboard.press("Escape");
const depths = page.getByRole("group", { name: "Depth" });
const top = depths.getByRole("button", { name: /^Depth 0 \d+$/ });
await top.click();
await page.waitForURL(/depth=0/);
assert.equal(`Depth 0 ${await rows.count()}`, (await top.innerText()).replace(/^\W+/, ""));
await top.click();

// A link to a page of the crawl opens it in the viewer.
await grid.getByText("/more", { exact: true }).click();
await page.getByRole("tab", { name: "Rendered" }).click();
await page.locator("#viewer-panel").getByRole("link", { name: "gone" }).click();
await page.locator(`#open-page .card-foot a[href$="/gone"]`).waitFor();

// What was removed from the page.
await grid.getByText("/more", { exact: true }).click();
await page.getByRole("tab", { name: "Removed" }).click();
await page.getByRole("button", { name: "Show what was removed" }).click();
await page.getByRole("region", { name: "Full page" }).waitFor();
await page.getByText(/parts? (was|were) removed|Nothing was removed/).waitFor();
await fitsThePhone(page);

// An export of the selected pages alone.
await page.getByRole("checkbox", { name: "Select /more" }).check();
await page.getByRole("checkbox", { name: "Select /gone" }).check();
await page.getByText("2 pages selected").waitFor();
await page.getByRole("button", { name: "Export selection" }).click();
const selection = await saved(page, () => page.getByRole("button", { name: /^CSV of pages/ }).click());
const selected = selection.bytes.toString().trim().split("\r\n");
assert.equal(selected[0], "url,status,title,depth,size,duration_ms");
assert.equal(selected.length, 3);
assert.ok(selected.some((line) => /\/more,200,More,\d+,\d+,\d+$/.test(line)), selected.join());
await page.getByRole("button", { name: "Clear selection" }).click();

// Exports.
const take = (name) => saved(page, () => page.getByRole("button", { name: new RegExp(`^${name}`) }).click());
const files = {};
for (const name of ["JSONL", "ZIP of Markdown", "One Markdown file", "CSV of links"]) {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  files[name] = await take(name);
}
const lines = files["JSONL"].bytes.toString().trim().split("\n").map((line) => JSON.parse(line));
assert.equal(lines.length, Number(pages));
assert.ok(lines.every((line) => line.markdown && line.metadata.sourceURL));
const zip = files["ZIP of Markdown"].bytes;
assert.equal(zip.readUInt32LE(0), 0x04034b50);
assert.equal(zip.readUInt16LE(zip.length - 12), Number(pages) + 1, "one file per page, and the index");
assert.equal(zip.readUInt16LE(8), 8, "compressed");
const year = 1980 + (zip.readUInt16LE(12) >> 9);
assert.equal(year, new Date().getUTCFullYear());
const day = new Date().toISOString().slice(0, 10);
assert.ok(files["ZIP of Markdown"].name.endsWith(`-${day}-${crawl}.zip`), files["ZIP of Markdown"].name);
assert.ok(files["One Markdown file"].bytes.toString().split("<!-- http").length - 1 === Number(pages));
const table = files["CSV of links"].bytes.toString().trim().split("\r\n");
assert.equal(table[0], "from,to");
assert.ok(table.length > Number(pages));

// Running the request again.
await tab("Request");
await page.getByRole("button", { name: "Run again", exact: true }).click();
await page.waitForURL((url) => /\/jobs\//.test(url.pathname) && !url.pathname.endsWith(crawl));
await status("completed");
await page.getByRole("button", { name: "Edit and run again" }).click();
await heading(page, "Crawl");
assert.equal(await page.locator("input.big").inputValue(), site);

// A crawl that reached its limit is continued without its pages.
const paths = () => rows.locator(".mono").allInnerTexts();
await form("crawl", site);
await page.getByLabel(/^Page limit/).fill("2");
await page.getByRole("button", { name: "Start crawl" }).click();
await page.waitForURL(/\/console\/jobs\//);
await status("completed");
await page.getByRole("tab", { name: /^Pages\s*2$/ }).waitFor();
const [cut, fetched] = [jobId(), await paths()];
await page.getByRole("button", { name: "Continue crawl" }).click();
await page.waitForURL((url) => /\/jobs\//.test(url.pathname) && !url.pathname.endsWith(cut));
await status("completed");
await page.getByRole("tab", { name: /^Pages\s*2$/ }).waitFor();
for (const path of await paths()) assert.ok(!fetched.includes(path), `${path} is fetched again`);

// A map, and a batch of some of its URLs.
await form("map", site);
await page.getByRole("button", { name: "Map site" }).click();
await page.getByRole("listbox").getByRole("option").first().waitFor({ timeout: 60_000 });
await fitsThePhone(page);
// The URL carries the result: it survives a reload, and a URL of another browser says that it is not there.
await page.waitForURL(/\/map\?id=[0-9a-f-]{36}$/);
await page.reload();
await page.getByRole("listbox").getByRole("option").first().waitFor();
const ofMap = page.url();
await page.goto(`${origin}/console/map?id=00000000-0000-4000-8000-000000000000`);
await page.getByText("This result is no longer stored in this browser.").waitFor();
await page.goto(ofMap);
await page.getByRole("listbox").getByRole("option").first().waitFor();
const map = await saved(page, () => page.getByRole("button", { name: "CSV" }).click());
assert.ok(map.bytes.toString().startsWith("url,title,description\r\n"));
await tab("Tree");
// A folder of the tree ticks every URL in it.
const host = page.getByRole("tree", { name: "URLs by path" }).getByRole("treeitem").first();
await host.locator(".box").click();
await page.waitForFunction(() => document.querySelector("[role=treeitem]").getAttribute("aria-checked") === "true");
await page.getByRole("button", { name: /^Batch scrape \d+ URLs$/ }).waitFor();
await page.getByRole("treeitem").nth(2).locator(".box").click();
await page.waitForFunction(() => document.querySelector("[role=treeitem]").getAttribute("aria-checked") === "mixed");
await host.locator(".box").click();
await host.locator(".box").click();
await page.getByText("Select URLs to scrape or crawl them.").waitFor();
await tab(/^URLs/);
const options = page.getByRole("listbox").getByRole("option");
for (const at of [0, 1, 2]) await options.nth(at).click();
// What can be done with the selection stays in view while the list scrolls.
await page.setViewportSize({ ...DESKTOP, height: 360 });
for (const at of [2, 5]) {
  await options.nth(at).scrollIntoViewIfNeeded();
  const actions = await page.locator(".found-foot").boundingBox();
  assert.ok(actions.y >= 0 && actions.y + actions.height <= 360, `row ${at}: ${JSON.stringify(actions)}`);
}
await page.setViewportSize(DESKTOP);
await page.getByRole("button", { name: "Batch scrape 3 URLs" }).click();
await page.waitForURL(/\/console\/jobs\//);
await status("completed");
await page.getByRole("tab", { name: /^Pages\s*3$/ }).waitFor();
await tab("Request");
await page.getByRole("button", { name: "Edit", exact: true }).click();
await page.getByRole("button", { name: "Run edited request" }).waitFor();

// A cancelled crawl.
await form("crawl", slow);
await page.getByRole("button", { name: "Start crawl" }).click();
await status("scraping");
await page.getByRole("button", { name: "Cancel", exact: true }).click();
await page.getByRole("button", { name: "Cancel job" }).click();
await status("cancelled");

await close(session, "jobs: ok");
