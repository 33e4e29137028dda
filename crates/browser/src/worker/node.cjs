// Runs code for one session in Node.js, like its REPL. Commands arrive on descriptor 3, messages are written
// to 4, as one line of JSON each. The argument is the file from which `require` resolves packages.
"use strict";
// A function, because the top level of this file would be the scope of the code, whose names it must not take.
(() => {
const fs = require("node:fs");
const inspector = require("node:inspector");
const net = require("node:net");
const readline = require("node:readline");
const util = require("node:util");
const { StringDecoder } = require("node:string_decoder");

const packages = require("node:module").createRequire(process.argv[1]);
const { chromium } = packages("playwright-core");

// Copies, because the code may replace globals.
const { appendFileSync, mkdirSync, writeFileSync, writeSync } = fs;
const { dirname } = require("node:path");
const { stringify, parse } = JSON;

// The server cuts longer texts anyway.
const MOST = 1024 * 1024;

function say(message) {
  let rest = Buffer.from(stringify(message) + "\n");
  while (rest.length > 0) rest = rest.subarray(writeSync(4, rest));
}

for (const stream of ["stdout", "stderr"]) {
  const decoder = new StringDecoder("utf8");
  process[stream].write = (chunk, encoding, done) => {
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
    if (text) say({ said: "output", stream, text: text.slice(0, MOST) });
    const callback = typeof encoding === "function" ? encoding : done;
    if (callback) process.nextTick(callback);
    return true;
  };
}
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error) => process.stderr.write(`Uncaught ${util.inspect(error)}\n`));
process.on("exit", (code) => say({ said: "exit", code }));

/** Converts a value to text: undefined stays undefined, strings are unchanged, plain values become JSON, others look as in the REPL. */
function text(value) {
  if (value === undefined || typeof value === "string") return value;
  const { isMap, isSet, isNativeError, isRegExp, isProxy } = util.types;
  const special = [isMap, isSet, isNativeError, isRegExp, isProxy].some((is) => is(value));
  if (!special && !Object.is(value, NaN) && Math.abs(value) !== Infinity) {
    try {
      const json = stringify(value);
      if (json !== undefined) return json;
    } catch {
      // A circular structure or a BigInt.
    }
  }
  return util.inspect(value);
}
Object.defineProperty(globalThis, Symbol.for("harvestman.text"), { value: text });
const textOf = 'function () { return globalThis[Symbol.for("harvestman.text")](this); }';

const session = new inspector.Session();
session.connect();
const post = (method, params) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (error, answer) => (error ? reject(error) : resolve(answer))),
  );
const evaluate = (expression) =>
  post("Runtime.evaluate", { expression, replMode: true, awaitPromise: true, objectGroup: "result" });

/** Returns message and stack of an exception, without frames outside the code. */
function reason({ exception, text }) {
  if (!exception) return text;
  if (exception.subtype !== "error") return `Uncaught ${exception.description ?? stringify(exception.value)}`;
  const lines = exception.description.split("\n");
  const isOutside = (line) => /^\s+at .*(node:|playwright-core|\[eval\])/.test(line ?? "");
  // The frame between the code and `post`.
  const isPromise = (line, index) => /^\s+at new Promise /.test(line) && isOutside(lines[index + 1]);
  return lines.filter((line, index) => !isOutside(line) && !isPromise(line, index)).join("\n");
}

let isRunning = false;

async function run(code) {
  isRunning = true;
  try {
    return await runNow(code);
  } finally {
    isRunning = false;
  }
}

async function runNow(code) {
  let { result, exceptionDetails } = await evaluate(code);
  if (/^SyntaxError: Illegal return/.test(exceptionDetails?.exception?.description))
    ({ result, exceptionDetails } = await evaluate(`(async () => {\n${code}\n})()`));
  // Await a promise, as for `return` above.
  if (result.subtype === "promise" && !exceptionDetails)
    ({ result, exceptionDetails } = await post("Runtime.awaitPromise", { promiseObjectId: result.objectId }));
  try {
    if (exceptionDetails) return { error: reason(exceptionDetails) };
    if (result.type === "undefined") return {};
    if (!result.objectId) return { result: result.unserializableValue ?? text(result.value) };
    if (result.type === "symbol") return { result: result.description };
    const { objectId } = result;
    const shown = await post("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: textOf,
      returnByValue: true,
    });
    return { result: shown.result.value ?? result.description };
  } finally {
    await post("Runtime.releaseObjectGroup", { objectGroup: "result" });
  }
}

const targets = new WeakMap();
const crashed = new WeakSet();
async function targetOf(page) {
  if (!targets.has(page)) {
    const cdp = await page.context().newCDPSession(page);
    const { targetInfo } = await cdp.send("Target.getTargetInfo");
    targets.set(page, targetInfo.targetId);
    page.on("crash", () => crashed.add(page));
    await cdp.detach();
  }
  return targets.get(page);
}
const usable = (page) => Boolean(page?.isClosed) && !page.isClosed() && !crashed.has(page);

/** Sets `page` to the page of a target. Retries, because a newly opened page may not be known yet. */
async function choose(target) {
  for (let look = 0; look < 100; look++) {
    const known = connection.contexts().flatMap((context) => context.pages());
    for (const page of [globalThis.page, ...known]) {
      if (!usable(page)) continue;
      const found = await targetOf(page).catch(() => undefined);
      if (found !== target) continue;
      globalThis.page = page;
      globalThis.context = page.context();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Writes a part of a file of the session. */
function receive({ file, data, append }) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    (append ? appendFileSync : writeFileSync)(file, Buffer.from(data, "base64"));
  } catch (error) {
    process.stderr.write(`cannot write ${file}: ${error.message}\n`);
  }
}

/** The browser and how to reach it. Code may replace `browser`, and close it, which only ends the connection. */
let connection, reach;

async function connect() {
  connection = await chromium.connectOverCDP(reach.connect, { artifactsDir: reach.downloads });
  globalThis.browser = connection;
  globalThis.context = connection.contexts()[0];
  // Without a listener Playwright dismisses every dialog, also those that a viewer should answer.
  globalThis.context.on("dialog", (dialog) => {
    const page = dialog.page();
    const isHandled = page?.listenerCount("dialog") > 0 || page?.context().listenerCount("dialog") > 1;
    if (!isRunning || isHandled) return;
    const answer = dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss();
    answer.catch(() => {});
  });
}

async function obey(command) {
  if (command.connect) {
    reach = command;
    await connect();
    globalThis.require = packages;
    return say({ said: "ready" });
  }
  if (!connection.isConnected()) await connect();
  await choose(command.target);
  say({ said: "begun" });
  const done = await run(command.run);
  const { page } = globalThis;
  const target = usable(page) ? await targetOf(page).catch(() => undefined) : undefined;
  say({ said: "done", result: done.result?.slice(0, MOST), error: done.error?.slice(0, MOST), target });
}

const commands = new net.Socket({ fd: 3, readable: true, writable: false });
commands.on("close", () => process.exit());
readline.createInterface({ input: commands }).on("line", (line) => {
  const command = parse(line);
  if (command.file) return receive(command);
  obey(command).catch((error) => say({ said: "failed", reason: String(error?.message ?? error) }));
});
say({ said: "loaded" });
})();
