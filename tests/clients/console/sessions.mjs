// A browser session in the console with a real browser: live view, code, prompts, control, history and end.
// Usage: sessions.mjs SIGN_IN_LINK FORM_URL, where the page has an input, a button "Send" and an output.

import assert from "node:assert/strict";
import { fits } from "../accessibility.mjs";
import { clickInView, close, fitsThePhone, heading, isAccessible, liveView, open } from "./page.mjs";

const [link, form] = process.argv.slice(2);
const session = await open(link, { checked: true });
const { page, origin } = session;

const history = page.getByRole("tab", { name: /^History/ });

/** Runs code or a prompt and waits for its result. */
async function run(text, language) {
  const before = Number((await history.innerText()).replace(/\D/g, ""));
  if (language) await page.getByLabel("Language").selectOption(language);
  await page.getByLabel(language ? "Code" : "Prompt", { exact: true }).locator("visible=true").last().fill(text);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("tab", { name: new RegExp(`^History\\s*${before + 1}$`) }).waitFor({ timeout: 60_000 });
}
const answered = (text) => page.locator(".answer").first().getByText(text).first().waitFor({ timeout: 60_000 });
/** Fills and sends the form by a prompt, and checks what the page shows then. */
async function sendByPrompt() {
  await page.getByRole("tab", { name: "Prompt" }).click();
  await run('Type "Ada" into name, then click "Send"');
  await page.locator(".answer .badge.ok").first().waitFor({ timeout: 60_000 });
  await page.getByRole("tab", { name: "Code" }).click();
  await run('eval "document.querySelector(\'output\').textContent"', "bash");
  await answered("Hello Ada");
}

// From the scraped page to its browser.
await page.goto(`${origin}/console/scrape?url=${encodeURIComponent(form)}`);
await heading(page, "Scrape");
await page.keyboard.press("Control+Enter");
await page.getByRole("link", { name: "Interact with this page" }).click();
await page.getByText("not opened", { exact: true }).waitFor();
await fitsThePhone(page);
await page.getByRole("button", { name: "Open browser" }).click();
await page.locator("h1 .badge").getByText("live", { exact: true }).waitFor({ timeout: 120_000 });
const view = liveView(page);
await view.locator("#state").getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
assert.equal(await page.locator("iframe.live-frame").getAttribute("title"), "Live view, read-only");
await fitsThePhone(page);

// Code, then a prompt.
await run("get title", "bash");
await answered("Form");
await sendByPrompt();

// Control: typing in the view reaches the page.
await run("eval \"document.querySelector('input').focus() || 're' + 'ady'\"", "bash");
await answered("ready");
await page.getByRole("button", { name: "Take control" }).click();
await page.locator(".live.control iframe").waitFor();
assert.equal(await page.locator("iframe.live-frame").getAttribute("title"), "Live view; you have control");
await view.locator("#mode").getByText("You have control").waitFor({ timeout: 60_000 });
await view.locator("#state").getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
await view.locator("#keys").focus();
await page.keyboard.type("!");
for (const patience = Date.now() + 60_000; ; ) {
  await run('eval "document.querySelector(\'input\').value"', "bash");
  if ((await page.locator(".answer").first().textContent()).includes("!")) break;
  assert.ok(Date.now() < patience, "typing in the view does not reach the page");
}
await page.getByRole("button", { name: "Release control" }).click();
await page.locator("iframe[title='Live view, read-only']").waitFor();

// The recorder turns clicks and typing in the view into actions and code, and picks the selector of an element.
await run("eval \"JSON.stringify(document.querySelector('input').getBoundingClientRect())\"", "bash");
await answered("width");
const field = JSON.parse(/\{.*\}/s.exec(await page.locator(".answer").first().innerText())[0]);
await page.getByRole("tab", { name: "Recorder" }).click();
await page.getByRole("button", { name: "Start recording" }).click();
await page.locator(".live.control iframe").waitFor();
await view.locator("#mode").getByText("You have control").waitFor({ timeout: 60_000 });
const clickField = () => clickInView(page, field.x + field.width / 2, field.y + field.height / 2);
await clickField();
const steps = page.getByRole("region", { name: "Recorded steps" });
await steps.getByText("click", { exact: false }).first().waitFor({ timeout: 60_000 });
await page.keyboard.type("Grace");
await page.keyboard.press("Enter");
await steps.getByText("press", { exact: false }).first().waitFor({ timeout: 60_000 });
const recorded = JSON.parse(await steps.innerText());
assert.deepEqual(recorded.map(({ type }) => type), ["click", "write", "press"]);
assert.deepEqual([recorded[0].selector, recorded[1].text, recorded[2].key], ['input[name="name"]', "Grace", "Enter"]);
await page.getByRole("button", { name: "Playwright" }).click();
await steps.getByText("page.keyboard.type").waitFor();
await fitsThePhone(page);
await isAccessible(page);
await page.getByRole("button", { name: "Stop recording" }).click();
await page.getByRole("button", { name: "Pick element" }).click();
await clickField();
await page.waitForFunction(() => document.querySelector("#picked-selector").value === 'input[name="name"]');
await page.getByRole("button", { name: "Release control" }).click();
await page.getByRole("button", { name: "Use in scrape" }).click();
await heading(page, "Scrape");
assert.equal(await page.locator("#f-url").inputValue(), form);
await page.getByRole("region", { name: "Request code" }).getByText('"Grace"').waitFor();
await page.goBack();

// What the page downloads is listed; the session is extended.
await page.getByRole("tab", { name: "Code" }).click();
await run("eval \"const a = document.createElement('a'); a.href = 'data:text/plain,herons'; a.download = 'birds.txt'; a.click()\"", "bash");
await page.getByRole("tab", { name: "Files" }).click();
const file = page.getByRole("link", { name: "birds.txt" });
await file.waitFor({ timeout: 60_000 });
assert.equal(await (await fetch(origin + (await file.getAttribute("href")))).text(), "herons");
await fitsThePhone(page);
await isAccessible(page);
await page.getByRole("button", { name: "Add 10 minutes" }).click();
await page.getByText("Session extended by 10 minutes").waitFor();

// Running an earlier call again.
await history.click();
const calls = page.locator("details.call");
const before = await calls.count();
assert.ok(before >= 5, `only ${before} calls are in the history`);
await calls.first().locator("summary").click();
await calls.first().getByRole("button", { name: "Run again" }).click();
await page.locator(".answer .badge.ok").first().waitFor({ timeout: 60_000 });
await page.getByRole("tab", { name: new RegExp(`^History\\s*${before + 1}$`) }).waitFor();

// A run that ends after its screen was left is in the history, too.
await page.getByRole("tab", { name: "Code" }).click();
await page.getByLabel("Language").selectOption("bash");
await page.getByLabel("Code", { exact: true }).locator("visible=true").last().fill("wait 1500");
await page.keyboard.press("Control+Enter");
await page.getByText("Running for").waitFor();
await page.getByRole("link", { name: "Overview" }).first().click();
await heading(page, "Overview");
await page.getByRole("region", { name: "Live sessions" }).getByText("stops in").waitFor();
await page.locator('[aria-label="Recent activity"] li', { hasText: "interact" }).getByText("live", { exact: true }).waitFor();
await fits(page);
await page.waitForFunction(() => localStorage.getItem("harvestman:calls:1").includes("wait 1500"));
await page.goBack();
await page.getByRole("tab", { name: new RegExp(`^History\\s*${before + 2}$`) }).waitFor();

// The list shows the session, its end and its credits.
await page.getByRole("link", { name: /^Sessions/ }).first().click();
await heading(page, "Sessions");
await page.locator(".session-row .badge.run").waitFor();
await fitsThePhone(page);
await page.getByRole("button", { name: /^Stop the session of/ }).click();
await page.getByRole("button", { name: "Stop session" }).click();
await page.getByText("Ended in the last 24 hours").waitFor({ timeout: 60_000 });
const when = '[aria-label="Ended sessions"] .when';
const since = await page.locator(when).first().innerText();
await page.waitForFunction(([when, since]) => document.querySelector(when).innerText !== since, [when, since]);
await page.locator(".session-row a").first().click();
await page.locator("h1 .badge").getByText("ended", { exact: true }).waitFor();
await page.getByText("This session ended").waitFor();

// A session without a scrape: it takes a prompt once it has a page.
await page.goto(`${origin}/console/sessions`);
await page.getByRole("button", { name: "Open browser" }).click();
await page.locator("h1 .badge").getByText("live", { exact: true }).waitFor({ timeout: 120_000 });
await run("get url", "bash");
await answered("about:blank");
await page.getByRole("tab", { name: "Prompt" }).click();
await run('Type "Ada" into name');
await page.getByText("Open a page in this browser first").first().waitFor();
await page.getByRole("tab", { name: "Code" }).click();
await run(`open ${form}`, "bash");
await sendByPrompt();
await page.getByRole("button", { name: "Stop", exact: true }).click();
await page.getByRole("button", { name: "Stop session" }).click();
await page.locator("h1 .badge").getByText("ended", { exact: true }).waitFor({ timeout: 60_000 });

// A session with a page, a lifetime, a profile and a country; the dialog names what it ends.
await page.goto(`${origin}/console/sessions?url=${encodeURIComponent(form)}`);
await page.getByLabel("Lifetime in minutes").fill("soon");
await page.getByRole("button", { name: "Open browser" }).click();
await page.getByRole("alert").getByText("The lifetime must be a number of minutes.").waitFor();
await page.getByLabel("Lifetime in minutes").fill("4");
await page.getByLabel("Profile").fill("work");
await page.getByRole("switch", { name: "Save changes to the profile" }).waitFor();
await page.getByLabel("Country").fill("DE");
await page.getByRole("button", { name: "Open browser" }).click();
await page.locator("h1 .badge").getByText("live", { exact: true }).waitFor({ timeout: 120_000 });
await page.getByText(/stops automatically in [34] min/).waitFor();
await run("get url", "bash");
await answered(form);
await run('eval "navigator.language"', "bash");
await answered("de");

// The user who opened it has control; recorded steps become a scrape of the page that they began on.
await page.getByRole("tab", { name: "Recorder" }).click();
await page.getByRole("button", { name: "Start recording" }).click();
await view.locator("#mode").getByText("You have control").waitFor({ timeout: 60_000 });
await clickField();
await steps.getByText("click").first().waitFor({ timeout: 60_000 });
await page.getByRole("button", { name: "Use in scrape" }).click();
await heading(page, "Scrape");
assert.equal(await page.locator("#f-url").inputValue(), form);
await page.goBack();
await page.getByRole("button", { name: "Stop", exact: true }).click();
await page.getByRole("dialog").locator(".subject").getByText(/\w/).waitFor();
await page.getByRole("button", { name: "Stop session" }).click();
await page.locator("h1 .badge").getByText("ended", { exact: true }).waitFor({ timeout: 60_000 });

await close(session, "sessions: ok");
