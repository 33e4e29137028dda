// Responsiveness of the console with a large job: the longest task of the page's main thread while the job is opened,
// scrolled, filtered, and shown as a tree and as a graph, and the most CPU time of a task. On a busy machine the task
// takes longer than its CPU time, as the thread waits. A wrong count is an error; a slow time is not.
// Usage: job_page.mjs SERVER KEY JOB_ID PAGES

import { createRequire } from "node:module";

const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");
const [server, key, job, pages] = process.argv.slice(2);
const PATIENCE_MS = 120_000;
/** Time after which the effects of an action have ended. */
const SETTLE_MS = 1_500;

const browser = await chromium.launch({
  executablePath: process.env.HARVESTMAN_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.setDefaultTimeout(PATIENCE_MS);
await page.addInitScript((key) => sessionStorage.setItem("harvestman:apiKey", key), key);

/** Performs an action and prints the longest tasks of the main thread. */
async function measure(name, act) {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  const began = Date.now();
  await act();
  const took = Date.now() - began;
  await page.waitForTimeout(SETTLE_MS);
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const place = ({ pid, tid }) => `${pid}/${tid}`;
  const isMain = (event) => event.name === "thread_name" && event.args.name === "CrRendererMain";
  const main = new Set(traceEvents.filter(isMain).map(place));
  const tasks = traceEvents.filter((event) => event.name === "ThreadControllerImpl::RunTask" && event.dur && main.has(place(event)));
  if (!tasks.length) throw new Error("the trace has no tasks");
  const most = (of) => `${Math.round(Math.max(...tasks.map(of)) / 1_000)} ms`.padStart(7);
  const long = tasks.filter((task) => task.dur > 50_000).length;
  console.log(`${name.padEnd(26)}${String(took).padStart(7)} ms   longest task${most((task) => task.dur)}   most CPU time of a task${most((task) => task.tdur ?? 0)}   above 50 ms: ${long}`);
}

const rows = (count) => page.locator(`.grid[aria-rowcount="${count + 1}"]`).waitFor();
const tab = (name) => page.getByRole("tab", { name }).click();

await measure("open, all rows loaded", async () => {
  await page.goto(`${server}/console/jobs/${job}`);
  await rows(Number(pages));
});
await measure("scroll to the end", async () => {
  await page.locator(".grid").hover();
  const last = page.locator(`.grid [aria-rowindex="${Number(pages) + 1}"]`);
  while (!(await last.count())) await page.mouse.wheel(0, Math.max(1_800, Number(pages) / 10));
});
await measure("filter, letter by letter", async () => {
  await page.getByLabel("Filter pages").pressSequentially("field/stone", { delay: 40 });
});
await measure("filter cleared", async () => {
  await page.getByLabel("Filter pages").fill("");
  await rows(Number(pages));
});
await measure("tree", async () => {
  await tab("Tree");
  await page.getByRole("treeitem").first().waitFor();
});
await measure("tree, expanded and walked", async () => {
  await page.getByRole("tree").focus();
  for (let step = 0; step < 120; step++) {
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("End");
});
await measure("graph", async () => {
  await tab("Graph");
  await page.locator(".graph-canvas").waitFor();
});
await measure("graph, zoomed and moved", async () => {
  const picture = page.locator(".graph-canvas");
  await picture.focus();
  for (const key of ["+", "+", "+", "ArrowLeft", "ArrowUp", "ArrowRight", "-", "-", "0"]) await page.keyboard.press(key);
  const { x, y, width, height } = await picture.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  for (let step = 0; step < 30; step++) await page.mouse.move(x + width / 2 + step * 5, y + height / 2 - step * 3);
  await page.mouse.up();
});
await measure("pages again", async () => {
  await tab(/^Pages/);
  await rows(Number(pages));
});
const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize);
if (heap) console.log(`JavaScript heap             ${(heap / 1024 / 1024).toFixed(1).padStart(7)} MiB`);
await browser.close();
