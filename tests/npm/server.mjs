// A running server for tests.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setting } from './package.mjs';

export const listen = (http) => new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(http.address().port)));

/** Starts a server with one key and these further settings; `stop` ends it and removes its data. */
export async function startServer(settings = {}) {
  const key = `fc-${randomBytes(32).toString('hex')}`;
  const data = mkdtempSync(join(tmpdir(), 'harvestman-data-'));
  const server = spawn(setting('HARVESTMAN_TEST_SERVER'), ['serve'], {
    env: {
      PATH: process.env.PATH,
      HARVESTMAN_LISTEN: '127.0.0.1:0',
      HARVESTMAN_DATA_DIR: data,
      HARVESTMAN_API_KEYS: `${key}=testers`,
      HARVESTMAN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const apiUrl = await new Promise((resolve, reject) => {
    let text = '';
    server.once('exit', (code) => reject(new Error(`the server ended (${code}): ${text}`)));
    server.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /listening on (http:\/\/\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
  });
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    // Programs of the browser may write for a moment after the server ended.
    rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  return { apiUrl, key, stop };
}
