// A fresh project folder with the installed tarball, and programs that run in it.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { project as packed, setting, tarball } from '../package.mjs';

const CHECKS = join(dirname(fileURLToPath(import.meta.url)), 'checks.mjs');
const LIMIT_MS = 300_000;
/** What a program prints when every check has passed. */
export const PASSED = 'every check passed';

export class Project {
  #env = { ...process.env, CI: '1', NEXT_TELEMETRY_DISABLED: '1', DENO_NO_UPDATE_CHECK: '1', WRANGLER_SEND_METRICS: 'false' };

  constructor(name, manifest = {}) {
    this.folder = mkdtempSync(join(tmpdir(), `harvestman-${name}-`));
    this.write('package.json', JSON.stringify({ private: true, ...manifest }));
    copyFileSync(CHECKS, join(this.folder, 'checks.mjs'));
    // Bun and Deno keep caches in the home folder; nothing of the user must decide a result.
    this.#env.HOME = this.folder;
    this.#env.npm_config_cache = process.env.npm_config_cache ?? join(process.env.HOME ?? tmpdir(), '.npm');
    for (const name of Object.keys(this.#env)) if (/^(HARVESTMAN|FIRECRAWL|NODE)_/.test(name) && name !== 'NODE_EXTRA_CA_CERTS') delete this.#env[name];
  }

  path(...parts) {
    return join(this.folder, ...parts);
  }

  write(name, text) {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** Installs the tarball and packages of the registry, in these versions. */
  async install(...packages) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact'];
    await this.run(setting('HARVESTMAN_TEST_NPM'), ['install', ...flags, join(packed, tarball.filename), ...packages]);
  }

  /** Starts a program; `ended` resolves with its output, or rejects with it if the program fails. */
  start(program, args, env = {}) {
    const path = `${dirname(setting('HARVESTMAN_TEST_NODE'))}:${this.#env.PATH}`;
    const child = spawn(program, args, { cwd: this.folder, env: { ...this.#env, PATH: path, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const ended = new Promise((resolve, reject) => {
      const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
      child.once('error', reject);
      child.once('close', (code, signal) => {
        clearTimeout(limit);
        if (code === 0) resolve(output);
        else reject(new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}:\n${output}`));
      });
    });
    ended.catch(() => {});
    return { child, ended, output: () => output };
  }

  run(program, args, env) {
    return this.start(program, args, env).ended;
  }

  /** Runs a program that checks the package. */
  async passes(program, args, env) {
    const output = await this.run(program, args, env);
    if (!output.includes(PASSED)) throw new Error(`${program} ${args.join(' ')} printed\n${output}`);
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Source of a module that checks an entry of the package and hands the outcome to `report`. */
export const moduleOf = (entry, report = 'console.log') =>
  `import * as hm from '${entry}';\nimport { check } from './checks.mjs';\ncheck(hm).then((text) => ${report}(text), (error) => ${report}('failed: ' + error.stack));\n`;
/** The same for a CommonJS module. */
export const commonJsOf = (entry) => `const hm = require('${entry}');\nimport('./checks.mjs').then(({ check }) => check(hm)).then(console.log);\n`;
