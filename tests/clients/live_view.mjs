// A session from outside: Playwright at its `cdpUrl`, and both live views in iframes of a page of another origin.
// Usage: live_view.mjs SERVER KEY SITE, where SITE serves the pages of the test with the same name.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");

const [server, key, site] = process.argv.slice(2);
const call = async (method, path, body) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(server + path, { method, headers, body: body && JSON.stringify(body) });
  return answer.json();
};
async function until(what, look) {
  const end = Date.now() + 60_000;
  while (!(await look())) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const session = await call("POST", "/v2/browser", {});
assert.ok(session.success, JSON.stringify(session));

// Two clients at once, with both kinds of URL.
const outside = await chromium.connectOverCDP(session.cdpUrl);
const other = await chromium.connectOverCDP(session.cdpUrl.replace("ws:", "http:"));
const page = outside.contexts()[0].pages()[0];
// A client that listens for dialogs does not close them automatically.
for (const client of [outside, other]) client.contexts()[0].pages()[0].on("dialog", () => {});
await page.goto(site + "/");
await until("the other client sees the page", async () => (await other.contexts()[0].pages()[0].title()) === "Session");
await assert.rejects(page.goto("file:///etc/passwd"));
await assert.rejects(outside.newContext({ proxy: { server: "http://127.0.0.1:1" } }));
const apart = await other.newContext();
await (await apart.newPage()).goto(site + "/popup");
await apart.close();

const watching = await chromium.launch({
  executablePath: process.env.HARVESTMAN_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const host = await watching.newPage({ viewport: { width: 1600, height: 620 } });
const complaints = [];
host.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
host.on("pageerror", (error) => complaints.push(error.message));
host.on("request", (request) => {
  if (![server, site].includes(new URL(request.url()).origin)) complaints.push(`request to ${request.url()}`);
});
await host.goto(site + "/host");
await host.evaluate((urls) => {
  for (const src of urls) {
    document.body.append(Object.assign(document.createElement("iframe"), { src, width: 780, height: 600 }));
  }
}, [session.liveViewUrl, session.interactiveLiveViewUrl]);
const [view, control] = await Promise.all([0, 1].map(async (index) => {
  const frame = await (await host.locator("iframe").nth(index).elementHandle()).contentFrame();
  await frame.locator("#picture[data-drawn]").waitFor();
  return frame;
}));
const colour = (frame) => frame.evaluate(() => {
  const picture = document.getElementById("picture");
  const [red, green, blue] = picture.getContext("2d").getImageData(picture.width - 40, picture.height - 40, 1, 1).data;
  return red > 128 ? "red" : green > 96 ? "green" : blue > 128 ? "blue" : "dark";
});
/** Returns the position in the host page of a point of the session's page. */
async function at(frame, x, y) {
  const box = await frame.locator("#picture").boundingBox();
  const [width, height] = await page.evaluate(() => [innerWidth, innerHeight]);
  const scale = Math.min(box.width / width, box.height / height);
  return [box.x + (box.width - width * scale) / 2 + x * scale, box.y + y * scale];
}
const click = async (frame, x, y) => host.mouse.click(...(await at(frame, x, y)));

// Both views show the page and the effect of a click.
for (const frame of [view, control]) await until("the page is red", async () => (await colour(frame)) === "red");
assert.equal(await view.locator("#mode").textContent(), "View only");
assert.equal(await control.locator("#address").inputValue(), site + "/");
await click(control, 60, 30);
await page.waitForFunction(() => document.title === "1 click");
for (const frame of [view, control]) await until("the page is green", async () => (await colour(frame)) === "green");

// Inputs of the read-only view never reach the page, neither from its page nor directly over its socket.
await click(view, 60, 30);
await host.keyboard.type("x");
const socket = new WebSocket(session.liveViewUrl.replace("http:", "ws:").replace("/live/", "/live/sockets/"));
await new Promise((resolve) => { socket.onmessage = resolve; });
for (const kind of ["move", "down", "up"]) {
  socket.send(JSON.stringify({ type: "mouse", kind, x: 60 / 1280, y: 30 / 720, buttons: 1, clicks: 1 }));
}
socket.send(JSON.stringify({ type: "go", url: site + "/popup" }));
await until("refused inputs are counted", async () => {
  const metrics = await (await fetch(server + "/metrics")).text();
  return Number(/harvestman_live_inputs_refused_total (\d+)/.exec(metrics)[1]) >= 4;
});
socket.close();
await click(control, 60, 30);
await page.waitForFunction(() => document.title === "2 clicks");

// Typing, the clipboard, select lists.
await click(control, 60, 80);
await host.keyboard.type("Hällo ");
await control.locator("#keys").evaluate((keys) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", "漢 🦀");
  keys.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
});
await page.waitForFunction(() => document.querySelector("input").value === "Hällo 漢 🦀");
await host.keyboard.press("Control+A");
await host.keyboard.press("Control+C");
await until("the text is in the clipboard", async () => {
  await host.keyboard.press("End");
  await host.keyboard.press("Control+V");
  return page.evaluate(() => document.querySelector("input").value.startsWith("Hällo 漢 🦀Hällo 漢 🦀"));
});
await click(control, 60, 130);
await control.getByRole("option", { name: "Second" }).click();
await page.waitForFunction(() => document.title === "chose b");
await click(control, 60, 130);
await control.locator("#list").waitFor();
await host.keyboard.press("ArrowDown");
await host.keyboard.press("Enter");
await page.waitForFunction(() => document.title === "chose c");

// A new tab is shown when it opens; its tab switches back to the first one.
await click(control, 60, 180);
await control.getByRole("tab", { name: "Popup", selected: true }).waitFor();
await until("the popup is blue", async () => (await colour(view)) === "blue");
await control.getByRole("tab", { name: "chose c" }).click();
await until("the first page is back", async () => (await colour(view)) === "green");
await control.getByRole("button", { name: "Close Popup" }).click();
await control.locator("#tabs").waitFor({ state: "hidden" });
assert.equal(outside.contexts()[0].pages().length, 1);

// Dialogs of the page are answered in the view, while code of both languages is connected and does not run.
for (const [language, code] of [["node", "page.url()"], ["python", "page.url"]]) {
  const ran = await call("POST", `/v2/browser/${session.id}/execute`, { language, code });
  assert.equal(ran.result, site + "/", JSON.stringify(ran));
}
await page.evaluate(() => { setTimeout(() => { document.title = `said ${prompt("Your name?", "Ada")}`; }); });
await view.getByText("Your name?").waitFor();
assert.ok(await view.locator("#yes").isHidden());
await control.getByLabel("Your name?").fill("Grace");
await control.getByRole("button", { name: "OK" }).click();
await page.waitForFunction(() => document.title === "said Grace");

// The address bar.
await control.locator("#address").fill(site + "/popup");
await control.locator("#address").press("Enter");
await page.waitForURL(site + "/popup");
await control.getByRole("button", { name: "Back" }).click();
await page.waitForURL(site + "/");
await control.locator("#address").fill("file:///etc/passwd");
await control.locator("#address").press("Enter");
await control.getByText("This is not the URL of a web page.").waitFor();

// A page in another renderer process is shown as well.
for (const [url, expected] of [["data:text/html,<body style='background:%23e00000'>", "red"], [site + "/popup", "blue"]]) {
  await page.goto(url);
  await until(`the page is ${expected}`, async () => (await colour(view)) === expected);
}

// A download is reported to Playwright, and its content is kept with the session.
const save = () => Object.assign(document.createElement("a"), { href: "data:text/plain,herons", download: "birds.txt" }).click();
const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(save)]);
assert.equal(download.suggestedFilename(), "birds.txt");
let files = [];
await until("the download is kept", async () => ({ files } = await call("GET", `/v2/browser/${session.id}/files`)).files.length > 0);
assert.equal(await (await fetch(files[0].url)).text(), "herons");

// The end of the session invalidates its URLs.
const gone = new Promise((resolve) => { outside.on("disconnected", resolve); });
assert.ok((await call("DELETE", `/v2/browser/${session.id}`)).success);
await gone;
for (const frame of [view, control]) await frame.getByRole("heading", { name: "This session has ended" }).waitFor();
for (const url of [session.liveViewUrl, session.interactiveLiveViewUrl, session.cdpUrl.replace("ws:", "http:") + "/json/version"]) {
  assert.equal((await fetch(url)).status, 404);
}
await assert.rejects(chromium.connectOverCDP(session.cdpUrl));
assert.deepEqual(complaints, []);
await watching.close();
console.log("live view: ok");
process.exit(0);
