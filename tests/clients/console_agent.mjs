// An agent run, from the prompt to its result, steps and sources; the next run of its thread; a cancelled run.
// Usage: console_agent.mjs ORIGIN KEY URL, where the model reads the page at URL, then answers `{"cup": 9.5}`; answers
// the next run of a thread in words; and does not answer a prompt with the word "wait".

import { open } from "./console_browser.mjs";

const [origin, key, url] = process.argv.slice(2);
const { page, visit, isAccessible, done } = await open(origin, key);
const tab = (name) => page.getByRole("tab", { name }).click();
const badge = (word) => page.locator("#result .badge", { hasText: word }).first().waitFor({ timeout: 60_000 });
const prompt = page.getByLabel(/^Prompt/);

await visit("/agent", "Agent");
await page.getByRole("region", { name: "Runs" }).getByText("Agent runs of this team will appear here.").waitFor();
await prompt.fill("The price of the cup");
await page.getByLabel(/^URLs/).fill(url);
await page.getByRole("button", { name: "Start agent" }).click();
await page.waitForURL(/\/console\/agent\?id=[0-9a-f-]{36}$/);
await badge("completed");
await page.locator("#result pre", { hasText: '"cup": 9.5' }).waitFor();
await isAccessible();

await tab(/^Steps/);
const step = page.locator("#result details", { hasText: "Read 127.0.0.1" });
await step.locator(".badge.ok").waitFor();
await step.locator("summary").click();
await step.locator("pre", { hasText: url }).waitFor();
await isAccessible();

await tab(/^Sources\s*1$/);
await page.locator("#result summary", { hasText: "/cup" }).click();
await page.getByRole("region", { name: "Text of the page" }).getByText("It is a Cup").waitFor();
await page.getByRole("link", { name: "Open page" }).waitFor();
await isAccessible();

// The URL alone shows the run again, and its thread goes on.
await page.reload();
await page.locator("#result pre", { hasText: '"cup": 9.5' }).waitFor();
const first = page.url();
await page.getByRole("button", { name: "Continue thread" }).click();
await page.getByText("Continues the thread of 1 run.").waitFor();
await page.waitForFunction(() => document.activeElement?.id === "f-prompt");
await prompt.fill("Compare it with the pot");
await page.keyboard.press("Control+Enter");
await page.waitForURL((now) => now.href !== first && now.searchParams.has("id"));
await page.locator("#result").getByText("The pot is more expensive.").waitFor({ timeout: 60_000 });
await badge("completed");
await tab(/^Thread\s*2$/);
await isAccessible();
await page.locator("#result").getByRole("link", { name: /The price of the cup/ }).click();
await page.locator("#result pre", { hasText: '"cup": 9.5' }).waitFor();

// A run that is cancelled.
await page.getByRole("button", { name: "Start new thread" }).click();
await prompt.fill("wait for me");
await page.getByRole("button", { name: "Start agent" }).click();
await badge("processing");
await page.getByRole("button", { name: "Cancel run" }).click();
await badge("cancelled");
const runs = page.getByRole("region", { name: "Runs" }).getByRole("link");
await page.waitForFunction(() => document.querySelectorAll("[aria-label=Runs] a").length === 3);
await runs.first().getByText("cancelled", { exact: true }).waitFor();
await runs.last().click();
await page.waitForURL(first);
await page.locator("#result pre", { hasText: '"cup": 9.5' }).waitFor();
await done("agent: ok");
