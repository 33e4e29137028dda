// Monitors: created by the form, checked, compared, paused and deleted.
// Usage: console_monitors.mjs ORIGIN KEY PAGE_URL MONITOR_ID, where the monitor has two checks and its page changed in
// between.

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key, url, changed] = process.argv.slice(2);
const { page, visit, complaints, findings, isAccessible, done } = await open(origin, key);

// The list, and a form whose problems are shown where they are made.
await visit("/monitors", "Monitors");
const row = page.locator(".monitor-row", { hasText: "Prices" });
await row.getByText("1 changed").waitFor();
assert.deepEqual(await findings(), []);
await page.getByLabel("URLs, one per line").fill(url);
await page.getByLabel("Schedule").fill("every 7 minutes");
await page.getByRole("button", { name: "Create monitor" }).click();
await page.getByRole("alert").getByText(/names 7 minutes/).waitFor();
// The browser logs the expected 400 as an error.
assert.match(complaints.pop(), /400/);
await page.getByLabel("Schedule").fill("weekdays at 9:00");
await page.getByLabel("Time zone").fill("Europe/Berlin");
await page.getByLabel("Name").fill("Cups");
await page.getByRole("button", { name: "Create monitor" }).click();
await page.getByRole("heading", { level: 1, name: "Cups" }).waitFor();
await page.getByText("0 9 * * 1-5").waitFor();

// The form changes what differs.
await page.getByRole("button", { name: "Edit", exact: true }).click();
assert.equal(await page.getByLabel("URLs, one per line").inputValue(), url);
await page.getByLabel("Name").fill("Cups and mugs");
await page.getByLabel("Schedule").fill("weekdays at 10:30");
assert.deepEqual(await findings(), []);
await page.getByRole("button", { name: "Save changes" }).click();
await page.getByRole("heading", { level: 1, name: "Cups and mugs" }).waitFor();
await page.getByText("30 10 * * 1-5").waitFor();
await page.getByText("Europe/Berlin").waitFor();
await page.getByRole("button", { name: "Save changes" }).waitFor({ state: "detached" });

// A check, and the pages that it saw.
await page.getByRole("button", { name: "Check now" }).click();
await page.getByRole("heading", { level: 2, name: "1 new" }).waitFor({ timeout: 60_000 });
await page.getByText("seen for the first time").waitFor();
await page.getByRole("button", { name: "Pause" }).click();
await page.getByText("none while paused").waitFor();
await page.getByRole("button", { name: "Resume" }).waitFor();
await page.getByRole("button", { name: "Delete" }).click();
const dialog = page.getByRole("dialog", { name: "Delete this monitor?" });
await dialog.getByText("Cups and mugs").waitFor();
await dialog.getByRole("button", { name: "Delete monitor" }).click();
await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();
assert.equal(await page.locator(".monitor-row", { hasText: "Cups" }).count(), 0);

// The timeline and the difference of a page; the selected check is in the URL.
await row.getByRole("link").click();
await page.getByRole("heading", { level: 1, name: "Prices" }).waitFor();
await page.locator(".page-diff .del", { hasText: "$10.00" }).waitFor();
await page.locator(".page-diff .add", { hasText: "$9.50" }).waitFor();
await page.getByText("This change matters for the goal").waitFor();
await isAccessible();
const bars = page.locator(".timeline .check-bar");
assert.equal(await bars.count(), 2);
await bars.first().click();
await page.getByRole("heading", { level: 2, name: "1 new" }).waitFor();
await page.waitForURL((at) => at.pathname.endsWith(changed) && at.searchParams.has("check"));
await page.reload();
await page.getByRole("heading", { level: 2, name: "1 new" }).waitFor();

// Checks that cannot be loaded are no empty list.
const checks = `**/v2/monitor/${changed}/checks?**`;
await page.route(checks, (route) => route.abort());
await page.reload();
await page.getByRole("alert").getByText("The server did not respond").waitFor();
assert.equal(await page.getByText("Checks will appear here").count(), 0);
await page.unroute(checks);
await bars.first().waitFor();
for (const complaint of complaints.splice(0)) assert.match(complaint, /ERR_FAILED/);

// A monitor that was deleted elsewhere.
await page.getByRole("button", { name: "Check now" }).waitFor();
await fetch(`${origin}/v2/monitor/${changed}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } });
await page.getByText("no such monitor").waitFor();
assert.equal(await page.getByRole("button", { name: "Check now" }).count(), 0);
await visit("/monitors", "Monitors");
for (const complaint of complaints.splice(0)) assert.match(complaint, /404/);

await done("monitors: ok");
