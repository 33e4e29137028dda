// How the console bears a large job: the longest task of the page's main thread while the job is opened, scrolled,
// filtered, drawn as a tree and as a graph. Prints figures and asserts none; needs a release build of the console.
// Usage: large_job.mjs SIGN_IN_LINK JOB_ID

import { open } from "./page.mjs";

const [link, job] = process.argv.slice(2);
const { browser, page, origin } = await open(link);
await page.addInitScript(() => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((task) => task.duration))).observe({
    type: "longtask",
    buffered: true,
  });
});
const settle = () => page.waitForTimeout(1_000);

/** Does something and prints the tasks above 50 ms that it took. */
async function measure(name, act) {
  await page.evaluate(() => void (window.tasks = [])).catch(() => {});
  const began = Date.now();
  await act();
  const took = Date.now() - began;
  await settle();
  const tasks = await page.evaluate(() => window.tasks);
  const longest = Math.round(Math.max(0, ...tasks));
  console.log(`${name.padEnd(24)} ${String(took).padStart(6)} ms   longest task ${String(longest).padStart(4)} ms   above 50 ms: ${tasks.length}`);
}

const rows = () => page.locator(".grid").first().getAttribute("aria-rowcount");
await measure("open until all rows", async () => {
  await page.goto(`${origin}/console/jobs/${job}`);
  for (let last = ""; ; ) {
    await page.waitForTimeout(250);
    const now = await rows().catch(() => "");
    if (now && now === last) break;
    last = now;
  }
});
console.log(`rows                     ${Number(await rows()) - 1}`);
await measure("scroll to the end", async () => {
  await page.locator(".grid").hover();
  for (let step = 0; step < 200; step++) await page.mouse.wheel(0, 1_800);
});
await measure("filter, letter by letter", async () => {
  await page.getByLabel("Filter pages").pressSequentially("docs/api/thread", { delay: 40 });
});
await measure("filter taken away", async () => page.getByLabel("Filter pages").fill(""));
await measure("tree", async () => {
  await page.getByRole("tab", { name: "Tree" }).click();
  await page.getByRole("treeitem").first().waitFor();
});
await measure("tree, all open", async () => {
  await page.getByRole("tree").focus();
  for (let step = 0; step < 120; step++) {
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
  }
});
await measure("graph", async () => {
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.locator(".graph-picture").waitFor();
});
await measure("graph, zoom and move", async () => {
  await page.locator(".graph-picture").focus();
  for (const key of ["+", "+", "+", "ArrowLeft", "ArrowUp", "ArrowRight", "-", "-", "0"]) await page.keyboard.press(key);
  await page.mouse.move(300, 600);
  await page.mouse.down();
  for (let step = 0; step < 30; step++) await page.mouse.move(300 + step * 5, 600 - step * 3);
  await page.mouse.up();
});
const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize);
if (heap) console.log(`heap                     ${Math.round(heap / 1024 / 1024)} MiB`);
await browser.close();
