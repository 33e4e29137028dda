#!/usr/bin/env node
// Starts the program of this platform: without arguments the server, else the command in the arguments.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const os = require("node:os");

const name = `harvestman-server-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "harvestman.exe" : "harvestman";

let program;
try {
  program = path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", file);
} catch {
  console.error(
    `harvestman-server: no program for ${process.platform} ${process.arch}: the package ${name} is not installed. ` +
      "It is an optional dependency: do not install with --omit=optional. On other platforms, build from source.",
  );
  process.exit(1);
}

const given = process.argv.slice(2);
const child = spawn(program, given.length > 0 ? given : ["serve"], { stdio: "inherit" });
// A terminal sends Ctrl-C to both processes; other signals reach only this one.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`harvestman-server: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + os.constants.signals[signal]));
