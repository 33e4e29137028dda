// Two runs of a crawl compared: new, gone and changed pages, with the difference of the text.
// Usage: console_compare.mjs ORIGIN KEY JOB_ID, where an earlier run had /old instead of /new, and "ten birds" on
// /changed, which has "nine birds" now

import { open } from "./console_browser.mjs";

const [origin, key, job] = process.argv.slice(2);
const { page, visit, isAccessible, done } = await open(origin, key);

await visit(`/jobs/${job}?tab=compare`, /127\.0\.0\.1/);
const chip = (name) => page.getByRole("group", { name: "Kind of change" }).getByRole("button", { name });
for (const [name, path] of [["New 1", "/new"], ["Gone 1", "/old"]]) {
  await chip(name).click();
  await page.locator(".change-row", { hasText: path }).waitFor();
}
await chip(/^Changed/).click();
await page.locator("summary.change-row", { hasText: "/changed" }).click();
await page.locator(".diff .del", { hasText: "ten birds" }).waitFor();
await page.locator(".diff .add", { hasText: "nine birds" }).waitFor();
await isAccessible();
await done("compare: ok");
