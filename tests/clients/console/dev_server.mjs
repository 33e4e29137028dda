// The console under `trunk serve`: sign-in, a crawl with live progress, and a live view that shows the page and takes
// clicks. Serves the pages itself; the server must allow private hosts.
// Usage: dev_server.mjs LINK, the sign-in link of a running server with the port of trunk.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { open } from "./page.mjs";

const PAGES = 40;
const FORM = `<!doctype html><title>Form</title><body style="margin:0"><main><h1>Form</h1><p>A button that greets.</p></main>
  <button style="position:fixed;inset:50% 0 0 0;font-size:60px" onclick="document.title = 'Clicked'">Greet</button>`;
const site = createServer((request, response) => {
  const page = Number(/^\/(\d*)$/.exec(request.url)?.[1]);
  const links = `<a href=/${2 * page + 1}>a</a> <a href=/${2 * page + 2}>b</a>`;
  const body = request.url === "/form" ? FORM : page < PAGES && `<title>${page}</title><main><h1>Page ${page}</h1><p>Words. ${links}</p></main>`;
  setTimeout(() => response.writeHead(body ? 200 : 404, { "content-type": "text/html" }).end(body || "none"), page >= 0 ? 300 : 0);
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
const root = `http://127.0.0.1:${site.address().port}`;

const { browser, page, origin } = await open(process.argv[2]);
page.setDefaultTimeout(60_000);

// The progress of a crawl is shown before its end.
await page.goto(`${origin}/console/crawl?${new URLSearchParams({ url: `${root}/`, limit: String(PAGES) })}`);
await page.getByRole("button", { name: "Start crawl" }).click();
await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
const rows = () => page.evaluate(() => Number(document.querySelector(".grid")?.getAttribute("aria-rowcount") ?? 1) - 1);
const seen = new Set();
for (const badge = page.locator("h1 .badge"); (await badge.innerText()) !== "completed"; ) {
  seen.add(await rows());
  await page.waitForTimeout(100);
}
await page.waitForFunction((pages) => Number(document.querySelector(".grid")?.getAttribute("aria-rowcount")) > pages, PAGES);
const steps = [...seen].filter((count) => count > 0 && count < PAGES);
assert.ok(steps.length >= 2, `progress in these steps only: ${steps}`);

// The live view of a session.
await page.goto(`${origin}/console/scrape?${new URLSearchParams({ url: `${root}/form` })}`);
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
await page.keyboard.press("Control+Enter");
await page.getByRole("link", { name: "Interact with this page" }).click();
await page.getByRole("button", { name: "Open browser" }).click();
await page.locator("h1 .badge").getByText("live", { exact: true }).waitFor();
await page.getByRole("button", { name: "Take control" }).click();
const view = page.frameLocator("iframe.live-frame");
await view.locator("#mode").getByText("You have control").waitFor();
await view.locator("#picture[data-drawn]").waitFor();
const picture = view.locator("#picture");
const colors = await picture.evaluate((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
});
assert.ok(colors > 5, `the picture has ${colors} colors`);
const { width, height } = await picture.boundingBox();
await picture.click({ position: { x: width / 2, y: height * 0.7 } });
await page.getByLabel("Language").selectOption("bash");
for (const patience = Date.now() + 60_000; ; ) {
  await page.getByLabel("Code", { exact: true }).locator("visible=true").last().fill("get title");
  await page.keyboard.press("Control+Enter");
  await page.waitForTimeout(1000);
  if ((await page.locator(".answer").first().textContent().catch(() => "")).includes("Clicked")) break;
  assert.ok(Date.now() < patience, "a click in the view does not reach the page");
}
await page.screenshot({ path: process.argv[3] ?? "/dev/null", type: "png" });
await browser.close();
site.closeAllConnections();
site.close();
console.log(`development server: ok, ${steps.length} steps of progress`);
