// State of the console that must not get lost: drafts of two tabs and of the history, tabs that do not fit, names in
// the graph, the focus on a new row of a schema, how long ago something was.
// Usage: console_state.mjs ORIGIN KEY JOB_ID, where the job is a crawl with several pages and a webhook

import assert from "node:assert/strict";
import { DESKTOP, PHONE, open } from "./console_browser.mjs";

const [origin, key, job] = process.argv.slice(2);
const { page, visit, fits, findings, done } = await open(origin, key);

// Two tabs with the same form keep a draft each, also over a reload; a third tab starts with the last one.
async function openTab() {
  const tab = await page.context().newPage();
  await tab.goto(`${origin}/console/crawl`);
  await tab.getByLabel("API key").fill(key);
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { level: 1, name: "Crawl" }).waitFor();
  return tab;
}
const url = (tab) => tab.locator("#f-url");
await visit("/crawl", "Crawl");
const second = await openTab();
await url(page).fill("https://first.test/");
await url(second).fill("https://second.test/");
await second.getByLabel(/^Page limit/).fill("7");
await url(page).fill("https://first.test/docs");
for (const tab of [page, second]) await tab.reload();
await url(page).waitFor();
await url(second).waitFor();
assert.equal(await url(page).inputValue(), "https://first.test/docs");
assert.equal(await page.getByLabel(/^Page limit/).inputValue(), "");
assert.equal(await url(second).inputValue(), "https://second.test/");
assert.equal(await second.getByLabel(/^Page limit/).inputValue(), "7");
const third = await openTab();
assert.equal(await url(third).inputValue(), "https://first.test/docs");
for (const tab of [second, third]) await tab.close();

// The values of a link apply once: going back and reloading keep what was changed since.
const linked = "/scrape?url=https%3A%2F%2Flinked.test%2F&waitFor=5";
const other = "https://linked.test/changed";
await visit(linked, "Scrape");
assert.equal(await url(page).inputValue(), "https://linked.test/");
await url(page).fill(other);
await page.getByRole("link", { name: "Activity", exact: true }).click();
await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
await page.goBack();
await page.getByRole("heading", { level: 1, name: "Scrape" }).waitFor();
assert.equal(await url(page).inputValue(), other);
await page.reload();
await url(page).waitFor();
assert.equal(await url(page).inputValue(), other);
await visit("/scrape?url=https%3A%2F%2Fsecond.test%2F", "Scrape");
await url(page).fill("https://second.test/changed");
await page.goBack();
await url(page).waitFor();
assert.equal(await url(page).inputValue(), other);
await page.goForward();
await url(page).waitFor();
assert.equal(await url(page).inputValue(), "https://second.test/changed");
await visit(linked, "Scrape");
assert.equal(await url(page).inputValue(), "https://linked.test/");

// A new row of a schema has the focus, also inside an object.
await visit("/extract", "Extract");
const names = page.getByLabel("Field name", { exact: true });
const focused = (at) => page.waitForFunction(
  (at) => [...document.querySelectorAll("[aria-label='Field name']")].indexOf(document.activeElement) === at, at,
);
const add = () => page.getByRole("button", { name: "Add field" }).last().press("Enter");
await add();
await focused(0);
await page.keyboard.type("name");
await add();
await focused(1);
await page.keyboard.type("price");
assert.deepEqual([await names.nth(0).inputValue(), await names.nth(1).inputValue()], ["name", "price"]);

// An object and a list of objects have fields of their own, which go with them.
const kinds = page.getByLabel("Type", { exact: true });
const schema = async () => {
  await page.getByRole("tablist", { name: "Form or JSON" }).getByText("JSON").click();
  const editor = page.getByLabel("Request body as JSON");
  // It follows the form in the next frame.
  await editor.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const body = JSON.parse(await editor.inputValue());
  await page.getByRole("tab", { name: "Form", exact: true }).click();
  return body.schema.properties;
};
await kinds.nth(1).selectOption("objects");
await page.getByRole("button", { name: "Add field to price" }).click();
await focused(2);
await page.keyboard.type("amount");
await kinds.nth(2).selectOption("object");
await page.getByRole("button", { name: "Add field to amount" }).click();
await focused(3);
await page.keyboard.type("value");
const amount = { type: "object", properties: { value: { type: "string" } } };
assert.deepEqual((await schema()).price, { type: "array", items: { type: "object", properties: { amount } } });
assert.deepEqual(await findings(), []);
await kinds.nth(1).selectOption("number");
await page.waitForFunction(() => document.querySelectorAll("[aria-label='Field name']").length === 2);
assert.deepEqual(await schema(), { name: { type: "string" }, price: { type: "number" } });

// Tabs that do not fit are in a menu.
await visit(`/jobs/${job}`, /127\.0\.0\.1/);
await page.setViewportSize(PHONE);
const all = page.locator("summary[aria-label='All tabs']");
await all.waitFor();
assert.deepEqual(await findings(), []);
await all.click();
await page.locator(".menu-list").getByRole("button", { name: "Webhooks" }).click();
const webhooks = page.getByRole("tab", { name: "Webhooks", selected: true });
await webhooks.waitFor();
await page.waitForFunction(() => {
  const [list, tab] = [".tab-list", "#job-webhooks"].map((one) => document.querySelector(one).getBoundingClientRect());
  return tab.left >= list.left - 1 && tab.right <= list.right + 1;
});
assert.ok(await all.evaluate((summary) => !summary.parentElement.open), "a choice closes the menu");
await fits();
await page.setViewportSize(DESKTOP);

// The time since an attempt goes on, although the log no longer changes.
const attempt = ".error-row span.what";
const since = await page.locator(attempt).first().innerText();
await page.waitForFunction(([attempt, since]) => document.querySelector(attempt).innerText !== since, [attempt, since]);

// The name of a page in the graph is shown next to the pointer.
await page.getByRole("tab", { name: "Graph" }).click();
const picture = page.getByRole("img", { name: /links between them/ });
await picture.waitFor();
await picture.scrollIntoViewIfNeeded();
const box = await picture.boundingBox();
const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
await page.mouse.move(x, y, { steps: 3 });
const name = page.locator(".graph-name");
await name.waitFor();
assert.match(await name.innerText(), /^\//);
const shown = await name.boundingBox();
assert.ok(Math.hypot(shown.x - x, shown.y - y) < 60, `the name is at ${shown.x}, ${shown.y}, the pointer at ${x}, ${y}`);
assert.ok(shown.x >= box.x && shown.x + shown.width <= box.x + box.width, "the name is inside the picture");
await page.mouse.move(box.x + 2, box.y + 2);
await name.waitFor({ state: "detached" });

// The graph does what its help says.
await page.getByText("Drag to move. To zoom, press + or -, or hold Shift and scroll. Click a page to read it.").waitFor();
const changesPicture = async (act) => {
  const before = await picture.evaluate((canvas) => canvas.toDataURL());
  await act();
  await page.waitForFunction((before) => document.querySelector(".graph-canvas").toDataURL() !== before, before);
};
await picture.focus();
await changesPicture(() => page.keyboard.press("+"));
await changesPicture(() => page.keyboard.press("-"));
await page.keyboard.down("Shift");
// With Shift, Chromium reports the wheel of a real mouse as horizontal.
await changesPicture(() => page.mouse.wheel(-240, 0));
await changesPicture(() => page.mouse.wheel(0, 240));
await page.keyboard.up("Shift");
await page.mouse.down();
await changesPicture(() => page.mouse.move(box.x + 90, box.y + 50));
await page.mouse.up();
await changesPicture(() => page.keyboard.press("0"));
await page.mouse.click(x, y);
await page.waitForURL(/page=\d+/);
await done("state: ok");
