// Latency of a later code call in a session, compared with the same evaluation directly over CDP, and with a new
// process that connects, evaluates and exits, which is what a client must do without a session that keeps its worker.
// Usage: interact.mjs SERVER KEY SITE CALLS PROCESSES.

import { spawnSync } from "node:child_process";

const [server, key, site, calls, processes] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
async function call(method, path, body) {
  const answer = await (await fetch(server + path, { method, headers, body: body && JSON.stringify(body) })).json();
  if (!answer.success) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}
async function times(count, run) {
  const taken = [];
  for (let index = 0; index < count; index += 1) {
    const from = performance.now();
    await run();
    taken.push(performance.now() - from);
  }
  return taken.sort((a, b) => a - b)[Math.floor(count / 2)];
}

const session = await call("POST", "/v2/browser", {});
const execute = async (code) => {
  const { result } = await call("POST", `/v2/browser/${session.id}/execute`, { code, language: "node" });
  return result;
};
await execute(`await page.goto(${JSON.stringify(new URL("/clicked", site).href)})`);
const QUESTION = "document.title.length + 1";
const code = `await page.evaluate(${JSON.stringify(QUESTION)})`;
if ((await execute(code)) !== "8") throw new Error("the call returned a wrong result");
const later = await times(Number(calls), () => execute(code));

const list = await (await fetch(session.cdpUrl.replace("ws:", "http:") + "/json/list")).json();
const socket = new WebSocket(list[0].webSocketDebuggerUrl);
await new Promise((resolve) => { socket.onopen = resolve; });
let id = 0;
const direct = await times(Number(calls), () => new Promise((resolve, reject) => {
  socket.onmessage = ({ data }) => {
    const { result } = JSON.parse(data);
    if (result?.result.value === 8) resolve();
    else reject(new Error(data));
  };
  socket.send(JSON.stringify({ id: (id += 1), method: "Runtime.evaluate", params: { expression: QUESTION } }));
}));

const program = `
  const { chromium } = require(process.env.NODE_PATH + "/playwright-core");
  chromium.connectOverCDP(process.argv[1]).then(async (browser) => {
    const page = browser.contexts()[0].pages()[0];
    if (await page.evaluate(${JSON.stringify(QUESTION)}) !== 8) process.exit(1);
    process.exit(0);
  });`;
const packages = process.env.NODE_PATH + "/node_modules";
const fresh = await times(Number(processes), () => {
  const env = { ...process.env, NODE_PATH: packages };
  const { status, stderr } = spawnSync(process.execPath, ["-e", program, session.cdpUrl], { env });
  if (status !== 0) throw new Error(`the process failed: ${stderr}`);
});
await call("DELETE", `/v2/browser/${session.id}`);

console.log(`debugging protocol    median ${direct.toFixed(2)} ms of ${calls}: Runtime.evaluate on an open socket`);
console.log(`later execute call    median ${later.toFixed(2)} ms of ${calls}: ${(later - direct).toFixed(2)} ms more`);
console.log(`new Node.js process   median ${fresh.toFixed(0)} ms of ${processes}: ${(fresh / later).toFixed(0)} times as long as a later call`);
process.exit(0);
