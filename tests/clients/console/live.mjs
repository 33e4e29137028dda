// A job in the console during failures: of its socket, the server and the network, and while the page is frozen. The
// job still reaches its end, with each page listed once.
// Usage: live.mjs SIGN_IN_LINK SLOW_URL PAGES; prints `stop` or `start` to have the parent process stop or start the
// server, and waits for a line on stdin as confirmation.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { close, open } from "./page.mjs";

const [link, slow, count] = process.argv.slice(2);
const pages = Number(count);
const session = await open(link);
const { page, origin } = session;
const context = page.context();
page.setDefaultTimeout(60_000);

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const server = async (word) => {
  console.log(word);
  await answers.next();
};
const grid = page.getByRole("grid", { name: "Pages" });
const atLeast = (rows) => page.waitForFunction(
  (rows) => Number(document.querySelector(".grid")?.getAttribute("aria-rowcount")) > rows, rows,
);
const banner = page.getByRole("alert").filter({ hasText: "Retry now" });

async function start(options = {}) {
  await page.goto(`${origin}/console/crawl?${new URLSearchParams({ url: slow, ...options })}`);
  await page.getByRole("button", { name: "Start crawl" }).click();
  await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
  await atLeast(1);
}

/** Waits for the end of the job, and asserts that the list has every page once. */
async function isWhole() {
  await page.locator("h1 .badge").getByText("completed", { exact: true }).waitFor({ timeout: 120_000 });
  await atLeast(pages);
  const seen = new Map();
  await grid.evaluate((grid) => grid.scrollTo(0, 0));
  for (;;) {
    const rows = await grid.locator("[aria-rowindex][title]").evaluateAll((rows) => rows.map((row) => [row.ariaRowIndex, row.title]));
    for (const [index, url] of rows) seen.set(index, url);
    const ended = await grid.evaluate((grid) => {
      const before = grid.scrollTop;
      grid.scrollBy(0, 300);
      return grid.scrollTop === before;
    });
    if (ended && seen.size >= pages) break;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  assert.equal(seen.size, pages);
  assert.equal(new Set(seen.values()).size, pages, "each page is listed once");
  assert.equal(await grid.getAttribute("aria-rowcount"), String(pages + 1));
}

// The server stops and restarts: known pages stay visible, and the others follow.
await start();
await server("stop");
await banner.waitFor();
await atLeast(1);
await server("start");
await banner.waitFor({ state: "detached" });
await isWhole();

// The network fails and recovers.
await start();
await context.setOffline(true);
await banner.waitFor();
await atLeast(1);
await context.setOffline(false);
await banner.waitFor({ state: "detached" });
await isWhole();

// The page is frozen while the job continues and the server restarts.
await start();
const browser = await context.newCDPSession(page);
await browser.send("Page.setWebLifecycleState", { state: "frozen" });
await server("stop");
await server("start");
await browser.send("Page.setWebLifecycleState", { state: "active" });
await isWhole();

// Sockets always fail: after a few attempts the console polls the job.
await page.addInitScript(() => {
  window.refused = 0;
  window.WebSocket = class {
    constructor() {
      window.refused += 1;
      setTimeout(() => this.onclose?.(new CloseEvent("close", { code: 1006 })));
    }
    close() {}
  };
});
await start({ maxConcurrency: 2 });
await isWhole();
assert.ok((await page.evaluate(() => window.refused)) > 0, "the console tried");

// Errors about failed connections are expected here.
session.complaints.splice(0, Infinity, ...session.complaints.filter((words) => !/net::ERR_|WebSocket|503/.test(words)));
await close(session, "live: ok");
process.exit(0);
