// The package as users install it: packed, and extracted into a node_modules folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with \`cargo xtask test\``);
  return value;
}

const folder = mkdtempSync(join(tmpdir(), 'harvestman-npm-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

const pack = (...more) => {
  const output = execFileSync(setting('HARVESTMAN_TEST_NPM'), ['pack', '--json', '--ignore-scripts', ...more], {
    cwd: setting('HARVESTMAN_TEST_PACKAGE'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const packages = JSON.parse(output);
  return Array.isArray(packages) ? packages[0] : Object.values(packages)[0];
};

/** npm's description of the tarball: `{ filename, size, files }`. */
export const tarball = pack('--pack-destination', folder);
/** Folder of a project with the installed package. */
export const project = folder;
export const installed = join(folder, 'node_modules/harvestman');

mkdirSync(installed, { recursive: true });
execFileSync('tar', ['-xzf', join(folder, tarball.filename), '-C', installed, '--strip-components=1']);

/** Imports an entry point of the package. */
export async function load(entry = '.') {
  const { exports } = JSON.parse(await (await import('node:fs/promises')).readFile(join(installed, 'package.json'), 'utf8'));
  const { node = exports[entry] } = exports[entry];
  const target = node.import.default;
  return import(pathToFileURL(join(installed, target)));
}
