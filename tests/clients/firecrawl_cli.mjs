// The command line of Firecrawl with a running server: pages, jobs, monitors, agents and sessions.
// Usage: firecrawl_cli.mjs API_URL API_KEY SITE, a site with / and /form. It writes to the current folder.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const [apiUrl, apiKey, site] = process.argv.slice(2);
// NODE_PATH names the folder of the packages.
const program = `${process.env.NODE_PATH}/node_modules/firecrawl-cli/dist/index.js`;
const env = { ...process.env, FIRECRAWL_API_URL: apiUrl, FIRECRAWL_API_KEY: apiKey, HOME: process.cwd() };
const run = async (...words) => (await promisify(execFile)(process.execPath, [program, ...words], { env })).stdout;
const json = async (...words) => JSON.parse(await run(...words));

assert.match(await run("scrape", `${site}/`), /# Start/);
assert.match(await run("map", `${site}/`), /\/form/);
const crawl = await json("crawl", `${site}/`, "--limit", "2", "--wait", "--poll-interval", "1");
assert.deepEqual([crawl.status, crawl.data.length], ["completed", 2]);
assert.equal((await json("crawl", crawl.id, "--status")).status, "completed");
writeFileSync("page.html", "<h1>Herons</h1><p>They stand still in shallow water.</p>");
assert.match(await run("parse", "page.html"), /# Herons/);
assert.match(await run("search", "hello"), /\/form/);

const page = ["--page", `${site}/form`];
const { data: monitor } = await json("monitor", "create", "--name", "Form", "--schedule", "hourly", ...page);
assert.equal((await json("monitor", "get", monitor.id)).data.name, "Form");
assert.deepEqual((await json("monitor", "list")).data.map(({ id }) => id), [monitor.id]);
assert.equal((await json("monitor", "update", monitor.id, "--state", "paused")).data.status, "paused");
const { id: check } = await json("monitor", "run", monitor.id);
let checked;
while ((checked = (await json("monitor", "check", monitor.id, check)).data).status !== "completed") await sleep(200);
assert.deepEqual(checked.pages.map(({ status }) => status), ["new"]);
assert.deepEqual((await json("monitor", "checks", monitor.id)).data.map(({ id }) => id), [check]);
assert.equal((await json("monitor", "delete", monitor.id)).success, true);

const schema = JSON.stringify({ type: "object", properties: { title: { type: "string" } } });
const task = ["the title", "--urls", `${site}/form`, "--schema", schema];
const agent = await json("agent", ...task, "--wait", "--poll-interval", "1", "--json");
assert.deepEqual([agent.status, agent.data], ["completed", { title: "Form" }], JSON.stringify(agent));

// A session on the page of the last scrape.
await run("scrape", `${site}/form`);
assert.match(await run("interact", "--bash", "--code", "click button && get text output"), /Hello/);
assert.match(await run("interact", "stop"), /Session stopped/);

console.log("firecrawl cli: ok");
