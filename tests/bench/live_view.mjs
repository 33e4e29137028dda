// Latency of a click in a live view, and frames per second. Both are measured in the viewer's page: from its
// pointerdown event to the frame on its canvas in which the colour has changed.
// Usage: live_view.mjs SERVER KEY SITE CLICKS SECONDS.

import { createRequire } from "node:module";

const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");
const [server, key, site, clicks, seconds] = process.argv.slice(2);
const PATIENCE_MS = 10_000;

const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const answer = await fetch(`${server}/v2/browser`, { method: "POST", headers, body: "{}" });
const session = await answer.json();
if (!session.success) throw new Error(JSON.stringify(session));
const outside = await chromium.connectOverCDP(session.cdpUrl);
const page = outside.contexts()[0].pages()[0];
await page.goto(new URL("/clicked", site).href);

const watching = await chromium.launch({
  executablePath: process.env.HARVESTMAN_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const viewer = await watching.newPage({ viewport: { width: 1280, height: 780 } });
await viewer.addInitScript((patience) => {
  window.drawn = { count: 0, heard: () => {} };
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...all) {
    draw.apply(this, all);
    window.drawn.count += 1;
    window.drawn.heard(this);
  };
  const isRed = (surface) => surface.getImageData(surface.canvas.width / 2, surface.canvas.height / 2, 1, 1).data[0] > 128;
  /** Resolves with the time in ms from the next press to the frame that shows its effect. */
  window.nextClick = () => new Promise((resolve, reject) => {
    const surface = document.getElementById("picture").getContext("2d");
    const before = isRed(surface);
    addEventListener("pointerdown", () => {
      const pressed = performance.now();
      const late = setTimeout(() => reject(new Error("no frame shows the click")), patience);
      window.drawn.heard = (drawn) => {
        if (isRed(drawn) === before) return;
        window.drawn.heard = () => {};
        clearTimeout(late);
        resolve(performance.now() - pressed);
      };
    }, { capture: true, once: true });
  });
}, PATIENCE_MS);
await viewer.goto(session.interactiveLiveViewUrl);
await viewer.locator("#picture[data-drawn]").waitFor();

const times = [];
for (let index = 0; index < Number(clicks); index += 1) {
  // Let the page come to rest before each click.
  await viewer.waitForTimeout(120 + (index * 37) % 60);
  const seen = viewer.evaluate(() => window.nextClick());
  await viewer.evaluate(() => 0);
  await viewer.mouse.click(640, 400);
  times.push(await seen);
}
times.sort((a, b) => a - b);
const at = (share) => times[Math.round((times.length - 1) * share)].toFixed(1);
console.log(`click to visible change   median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms, of ${times.length} clicks`);

await page.goto(new URL("/moving", site).href);
await viewer.waitForTimeout(500);
const from = await viewer.evaluate(() => [window.drawn.count, performance.now()]);
await viewer.waitForTimeout(Number(seconds) * 1000);
const to = await viewer.evaluate(() => [window.drawn.count, performance.now()]);
const rate = (to[0] - from[0]) / ((to[1] - from[1]) / 1000);
if (rate === 0) throw new Error("no frames arrived");
console.log(`frames           ${rate.toFixed(1)} per second of a page that always moves, over ${seconds} s`);
await fetch(`${server}/v2/browser/${session.id}`, { method: "DELETE", headers });
process.exit(0);
