// Every screen of the console, light and dark, on desktop and phone: no axe violations, no horizontal scrolling, no
// requests to other hosts, no console errors.
// Usage: console_routes.mjs ORIGIN KEY JOB_ID

import { PHONE, open } from "./console_browser.mjs";

const [origin, key, job] = process.argv.slice(2);
const { page, visit, settled, isAccessible, done } = await open(origin, key);

const ROUTES = [
  ["/", "Overview"],
  ["/scrape", "Scrape"],
  ["/crawl", "Crawl"],
  ["/batch", "Batch"],
  ["/map", "Map"],
  ["/search", "Search"],
  ["/extract", "Extract"],
  ["/parse", "Parse"],
  ["/agent", "Agent"],
  ...["pages", "tree", "graph", "errors", "blocked", "compare", "request", "webhooks"].map((tab) => [
    `/jobs/${job}?tab=${tab}&page=0`, /127\.0\.0\.1/,
  ]),
  ["/monitors", "Monitors"],
  ["/sessions", "Sessions"],
  ["/activity", "Activity"],
  ["/usage", "Usage"],
  ["/usage?of=tokens&byApiKey=true", "Usage"],
  ["/usage?of=pages&by=day&byApiKey=true", "Usage"],
  ["/keys", "Keys"],
  ["/ask", "Ask"],
  ["/tools", "Tools"],
  ["/tools?tool=scope", "Tools"],
  ["/tools?tool=robots", "Tools"],
  ["/tools?tool=sitemap", "Tools"],
  ["/tools?tool=webhook", "Tools"],
  ["/settings", "Settings"],
  ["/nowhere", "Not found"],
];

for (const [path, heading] of ROUTES) {
  await page.setViewportSize(PHONE);
  await visit(path, heading);
  await settled();
  await isAccessible();
}
await done(`routes: ok, ${ROUTES.length} screens`);
