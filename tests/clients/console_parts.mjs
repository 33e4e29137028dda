// A screen whose wasm part cannot be fetched shows an error, and loads after a retry.
// Usage: console_parts.mjs ORIGIN KEY

import assert from "node:assert/strict";
import { open } from "./console_browser.mjs";

const [origin, key] = process.argv.slice(2);
const { page, visit, findings, complaints, done } = await open(origin, key);

const PARTS = "**/parts-*/*.wasm";
await page.route(PARTS, (route) => route.abort());
await visit("/scrape", "This screen could not be loaded");
assert.deepEqual(await findings(), []);
// The failed fetches appear as console errors, some of them late.
const isRefusal = (words) => /Failed to (load resource: net::ERR_FAILED|fetch)/.test(words);
assert.ok(complaints.some(isRefusal));

await page.unroute(PARTS);
await page.getByRole("button", { name: "Reload page" }).click();
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
complaints.splice(0, Infinity, ...complaints.filter((words) => !isRefusal(words)));
await done("parts: ok");
