// Usage, remaining credits and queue of a team with the JavaScript client.
// Usage: javascript_usage.mjs API_URL API_KEY KEY_NAME BUDGET SITE_URL SLOW_URL, where the key has not been used before,
// and SLOW_URL never responds.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, keyName, budgetText, site, slow] = process.argv.slice(2);
const budget = Number(budgetText);
const client = new Firecrawl({ apiKey, apiUrl });

async function check(used) {
  const credits = await client.getCreditUsage();
  assert.deepEqual([credits.remainingCredits, credits.planCredits], [budget - used, budget]);
  const tokens = await client.getTokenUsage();
  assert.deepEqual([tokens.remainingTokens, tokens.planTokens], [15 * (budget - used), 15 * budget]);
  const [start, end] = [new Date(credits.billingPeriodStart), new Date(credits.billingPeriodEnd)];
  assert.equal(start.toISOString(), credits.billingPeriodStart);
  assert.equal(start.getUTCDate(), 1);
  assert.ok(start <= new Date() && new Date() <= end && start.getUTCMonth() === end.getUTCMonth());
  for (const byApiKey of [undefined, false, true]) {
    const key = byApiKey ? keyName : undefined;
    const ofCredits = await client.getCreditUsageHistorical(byApiKey);
    assert.equal(ofCredits.success, true);
    assert.deepEqual(ofCredits.periods.map((period) => [period.creditsUsed, period.apiKey]), [[used, key]]);
    const ofTokens = await client.getTokenUsageHistorical(byApiKey);
    assert.equal(ofTokens.success, true);
    assert.deepEqual(ofTokens.periods.map((period) => [period.tokensUsed, period.apiKey]), [[15 * used, key]]);
    assert.equal(ofTokens.periods[0].startDate, credits.billingPeriodStart);
    assert.equal(ofCredits.periods[0].endDate, credits.billingPeriodEnd);
  }
}

await check(0);
const idle = await client.getQueueStatus();
assert.deepEqual([idle.jobsInQueue, idle.activeJobsInQueue, idle.waitingJobsInQueue], [0, 0, 0]);
assert.ok(idle.maxConcurrency > 0 && !idle.mostRecentSuccess);
assert.deepEqual(await client.getConcurrency(), { concurrency: 0, maxConcurrency: idle.maxConcurrency });

const document = await client.scrape(site, { formats: ["markdown", "summary"] });
assert.equal(document.metadata.creditsUsed, 5);
await client.map(site, { limit: 5 });
const job = await client.crawl(site, { limit: 3, sitemap: "skip", pollInterval: 1, timeout: 60 });
await check(5 + 1 + job.creditsUsed);
const done = await client.getQueueStatus();
assert.equal(done.jobsInQueue, 0);
assert.ok(new Date(done.mostRecentSuccess) <= new Date());

// Pages in progress and waiting pages.
const urls = Array.from({ length: idle.maxConcurrency + 3 }, (_, number) => `${slow}?${number}`);
const batch = await client.startBatchScrape(urls);
while ((await client.getConcurrency()).concurrency < idle.maxConcurrency);
const busy = await client.getQueueStatus();
assert.deepEqual([busy.activeJobsInQueue, busy.waitingJobsInQueue], [idle.maxConcurrency, 3]);
assert.equal(busy.jobsInQueue, idle.maxConcurrency + 3);
assert.equal(await client.cancelBatchScrape(batch.id), true);
console.log("javascript usage: ok");
