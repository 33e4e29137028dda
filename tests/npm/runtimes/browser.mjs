// Chromium, and a server for the files of a project with a strict content security policy.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { setting } from '../package.mjs';
import { PASSED } from './project.mjs';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.wasm': 'application/wasm', '.css': 'text/css', '.json': 'application/json' };
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
const LIMIT_MS = 60_000;
/** A page whose script reports by `report.js`. */
export const pageOf = (script) => `<!doctype html><title>working</title><script type="module" src="${script}"></script>`;
/** Source of the module that shows an outcome as the title of the page. */
export const REPORT = "export const report = (text) => { document.title = text; };\n";

/** Serves a folder; returns the origin and a function that ends it. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'content-security-policy': POLICY });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Opens a page and waits until the package has been checked there. */
export async function passesInChromium(url) {
  const { chromium } = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'))('playwright-core');
  const browser = await chromium.launch({ executablePath: setting('HARVESTMAN_CHROMIUM'), args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
  const messages = [];
  try {
    const page = await browser.newPage();
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(error.stack));
    await page.goto(url);
    await page.waitForFunction((passed) => document.title === passed || document.title.startsWith('failed'), PASSED, { timeout: LIMIT_MS }).catch(() => {});
    const title = await page.title();
    if (title !== PASSED) throw new Error(`${url}: ${title}\n${messages.join('\n')}`);
  } finally {
    await browser.close();
  }
}

/** Serves a folder and checks some of its pages. */
export async function pagesPass(folder, ...pages) {
  const { origin, close } = await serve(folder);
  try {
    for (const page of pages) await passesInChromium(`${origin}/${page}`);
  } finally {
    close();
  }
}
